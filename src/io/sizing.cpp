#include "io/sizing.hpp"

#include <algorithm>

#include "gpu/cufile.hpp"
#include "plan/threads.hpp"

namespace waybill {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

// Below this a unit costs more in calls than another thread saves (measured: docs/measurements).
constexpr std::uint64_t kLeastUnitBytes = 256 * 1024;
// So much of small requests is moved at once, and so many: a copy call for each would cost more than the copies (docs/measurements).
constexpr std::uint64_t kGroupBytes = 2 * kMiB;
constexpr std::uint64_t kGroupUnits = 256;
// Each thread gets this many turns at least, so that none ends long after the others.
constexpr std::uint64_t kTurnsPerThread = 4;
// Copies of requests under this size are waited for by spinning: sleeping would cost more than the copy.
constexpr std::uint64_t kSpinBelowBytes = 128 * kMiB;

std::uint64_t units_per_claim(std::uint64_t units, std::uint64_t total_bytes, std::uint64_t threads) {
    if (units == 0 || total_bytes == 0) {
        return 1;
    }
    const std::uint64_t of_group = kGroupBytes * units / total_bytes;
    const std::uint64_t of_turn = units / (threads * kTurnsPerThread);
    return std::clamp<std::uint64_t>(std::min(of_group, of_turn), 1, kGroupUnits);
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
    for (Part& part : consignment.parts) {
        part.units = Units(part.size_bytes, settings.task_size.value, cufile ? settings.task_size.value : unit);
        units += part.units.count();
        const CufileUse use{version, part.work.registered_base != nullptr};
        const Plan plan = make_plan(route, part.size_bytes, settings, machine.cufile, use);
        tasks = {tasks.count + plan.tasks.count, std::max(tasks.size_bytes, plan.tasks.size_bytes), plan.tasks.last_bytes};
        if (consignment.parts.size() == 1) {
            consignment.plan = plan;
        }
    }
    if (!cufile) {
        consignment.units_per_claim = units_per_claim(units, total_bytes, consignment.threads);
    }
    consignment.lading.spin = total_bytes < kSpinBelowBytes;
    consignment.plan.size_bytes = total_bytes;
    consignment.plan.tasks = tasks;
}

}  // namespace waybill
