#include "waybill/plan.hpp"

#include <algorithm>

#include "plan/pieces.hpp"

namespace waybill {
namespace {

Shares split_request(std::uint64_t size_bytes, std::uint64_t task_bytes) {
    if (size_bytes == 0) {
        return {0, task_bytes, 0};
    }
    const std::uint64_t count = (size_bytes - 1) / task_bytes + 1;
    return {count, std::min(task_bytes, size_bytes), size_bytes - (count - 1) * task_bytes};
}

PlanBasis basis_of(const Route& route, const std::optional<int>& version, int measured) {
    if (!version) {
        return PlanBasis::unknown_version;
    }
    if (*version != measured) {
        return PlanBasis::other_version;
    }
    return route.expected_path == Path::cufile_posix ? PlanBasis::measured : PlanBasis::direct_path;
}

}  // namespace

Task task_at(const Plan& plan, std::uint64_t k) noexcept {
    return {k * plan.tasks.size_bytes, k + 1 == plan.tasks.count ? plan.tasks.last_bytes : plan.tasks.size_bytes};
}

std::string_view to_text(PlanBasis basis) noexcept {
    switch (basis) {
        case PlanBasis::measured: return "measured";
        case PlanBasis::other_version: return "other-version";
        case PlanBasis::unknown_version: return "unknown-version";
        case PlanBasis::direct_path: return "direct-path";
    }
    return "";
}

std::string basis_note(PlanBasis basis) {
    switch (basis) {
        case PlanBasis::measured: return "";
        case PlanBasis::other_version: return "extrapolated: this version of cuFile was not measured, the nearest one stands in";
        case PlanBasis::unknown_version:
            return "extrapolated: which version of cuFile this is is not known, the newest one measured stands in";
        case PlanBasis::direct_path:
            return "extrapolated: the split was measured in cuFile's compatibility mode, and is likely the same on a direct path";
    }
    return "";
}

Plan make_plan(const Route& route, std::uint64_t size_bytes, const Settings& settings, const CufileFacts& cufile,
               const CufileUse& use) {
    Plan plan;
    plan.size_bytes = size_bytes;
    plan.tasks = split_request(size_bytes, settings.task_size.value);
    if (route.engine != EngineKind::cufile || plan.tasks.count == 0) {
        return plan;
    }
    const std::optional<int> version = cufile_version(cufile, use);
    const int measured = nearest_measured_version(version);
    const Execution execution = execution_of(cufile.config, measured);
    const Shares full = split_task(plan.tasks.size_bytes, execution, use.registered);
    const Shares last = split_task(plan.tasks.last_bytes, execution, use.registered);
    plan.pieces_per_task = full;
    if (plan.tasks.last_bytes != plan.tasks.size_bytes) {
        plan.pieces_of_last_task = last;
    }
    plan.pieces_total = (plan.tasks.count - 1) * full.count + last.count;
    if (route.expected_path == Path::cufile_posix) {
        plan.device_reads = (plan.tasks.count - 1) * count_device_reads(full, execution, use.registered) +
                            count_device_reads(last, execution, use.registered);
    }
    plan.basis = basis_of(route, version, measured);
    return plan;
}

}  // namespace waybill
