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

// In compatibility mode cuFile reads a piece in reads of at most max_direct_io_size_kb.
std::uint64_t device_reads(const Shares& pieces, std::uint64_t most_bytes) {
    const std::uint64_t each = std::max<std::uint64_t>(most_bytes, 1);
    if (pieces.count == 0) {
        return 0;
    }
    return (pieces.count - 1) * ((pieces.size_bytes - 1) / each + 1) + ((pieces.last_bytes - 1) / each + 1);
}

}  // namespace

Task task_at(const Plan& plan, std::uint64_t k) noexcept {
    return {k * plan.tasks.size_bytes, k + 1 == plan.tasks.count ? plan.tasks.last_bytes : plan.tasks.size_bytes};
}

Plan make_plan(const Route& route, std::uint64_t size_bytes, const Settings& settings, const CufileFacts& cufile) {
    Plan plan;
    plan.size_bytes = size_bytes;
    plan.tasks = split_request(size_bytes, settings.task_size.value);
    if (route.engine != EngineKind::cufile || plan.tasks.count == 0) {
        return plan;
    }
    const PieceRule full = split_task(plan.tasks.size_bytes, cufile.config);
    const PieceRule last = split_task(plan.tasks.last_bytes, cufile.config);
    plan.pieces_per_task = full.pieces;
    plan.pieces_total = (plan.tasks.count - 1) * full.pieces.count + last.pieces.count;
    if (route.expected_path == Path::cufile_posix) {
        plan.device_reads = (plan.tasks.count - 1) * device_reads(full.pieces, cufile.config.max_direct_io_bytes) +
                            device_reads(last.pieces, cufile.config.max_direct_io_bytes);
    }
    plan.extrapolated = full.extrapolated || last.extrapolated;
    return plan;
}

}  // namespace waybill
