#include "io/sizing.hpp"

#include <algorithm>

#include "gpu/cufile.hpp"
#include "plan/threads.hpp"

namespace waybill {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

// Below this a unit costs more in calls than another thread saves (measured: docs/measurements).
constexpr std::uint64_t kLeastUnitBytes = 256 * 1024;
// Small requests are moved a slot's worth at once, of at most so many: a copy call for each would cost more than the copies
// (docs/measurements).
constexpr std::uint64_t kGroupUnits = 256;
// Each thread gets this many turns at least, so that none ends long after the others.
constexpr std::uint64_t kTurnsPerThread = 4;
// Copies of requests under this size are waited for by spinning: sleeping would cost more than the copy.
constexpr std::uint64_t kSpinBelowBytes = 128 * kMiB;

std::uint64_t units_per_claim(std::uint64_t units, std::uint64_t total_bytes, std::uint64_t threads, std::uint64_t slot_bytes) {
    if (units == 0 || total_bytes == 0) {
        return 1;
    }
    const std::uint64_t of_group = slot_bytes * units / total_bytes;
    const std::uint64_t of_turn = units / (threads * kTurnsPerThread);
    return std::clamp<std::uint64_t>(std::min(of_group, of_turn), 1, kGroupUnits);
}

// The requests of a large call mostly have one size.
bool is_planned_as(const Part& part, const Part& other) noexcept {
    return part.size_bytes == other.size_bytes &&
           (part.work.registered_base != nullptr) == (other.work.registered_base != nullptr);
}

}  // namespace

void plan_parts(Consignment& consignment, const MachineFacts& machine) {
    const Settings& settings = *consignment.settings;
    std::uint64_t total_bytes = 0;
    for (const Part& part : consignment.parts) {
        total_bytes += part.size_bytes;
    }
    consignment.lading.slot_bytes = settings.bounce_buffer_size.value;
    consignment.lading.pinned_limit = settings.pinned_limit.value;
    const Route& route = *consignment.route;
    consignment.threads = choose_threads({route.engine, consignment.direction, total_bytes, consignment.parts.size(),
                                          machine.cores, route.direct_write},
                                         settings);
    const bool cufile = route.engine == EngineKind::cufile;
    // Two units for each thread, so that the copy of one overlaps the read of the next.
    const std::uint64_t share = total_bytes / (2 * consignment.threads);
    const std::uint64_t unit =
        std::min<std::uint64_t>(consignment.lading.slot_bytes, std::max(kLeastUnitBytes, (share + 65535) / 65536 * 65536));
    const CufileDriver* const driver = cufile ? cufile_if_open() : nullptr;
    const std::optional<int> version = driver != nullptr && driver->version != 0 ? std::optional(driver->version) : std::nullopt;
    Shares tasks;
    std::uint64_t units = 0;
    Plan plan;
    const Part* before = nullptr;
    for (Part& part : consignment.parts) {
        if (before != nullptr && is_planned_as(part, *before)) {
            part.units = before->units;
        } else {
            part.units = Units(part.size_bytes, settings.task_size.value, cufile ? settings.task_size.value : unit);
            const CufileUse use{version, part.work.registered_base != nullptr};
            plan = make_plan(route, part.size_bytes, settings, machine.cufile, use);
        }
        before = &part;
        units += part.units.count();
        tasks = {tasks.count + plan.tasks.count, std::max(tasks.size_bytes, plan.tasks.size_bytes), plan.tasks.last_bytes};
    }
    if (consignment.parts.size() == 1) {
        consignment.plan = plan;
    }
    if (!cufile) {
        consignment.units_per_claim = units_per_claim(units, total_bytes, consignment.threads, consignment.lading.slot_bytes);
    }
    consignment.lading.spin = total_bytes < kSpinBelowBytes;
    consignment.plan.size_bytes = total_bytes;
    consignment.plan.tasks = tasks;
}

}  // namespace waybill
