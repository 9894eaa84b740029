#include "plan/slow_shapes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "plan/pieces.hpp"

namespace waybill {
namespace {

constexpr std::uint64_t kBlock = 4096;  // what cuFile takes as aligned: its counters call other reads unaligned
constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kLargeRead = 64 * kMiB;

void of_cufile(std::vector<Reason>& shapes, const Plan& plan, const Route& route, const Execution& execution) {
    if (route.expected_path == Path::cufile_posix) {
        shapes.push_back(
            {"compatibility-mode-slow",
             "cuFile's compatibility mode was measured at half the speed of staging or less (cached file); compat_mode=auto "
             "avoids it"});
    }
    const Shares& pieces = *plan.pieces_per_task;
    if (pieces.count > 1 && pieces.size_bytes % kBlock != 0) {
        const std::uint64_t most = std::min(execution.threads, execution.parallelism);
        const std::string way_out = pieces.size_bytes == execution.threshold_bytes
                                        ? "a min_io_threshold_size_kb that is a multiple of 4 avoids it"
                                        : fmt::format("a task_size that is a multiple of {} KiB avoids it", 4 * most);
        shapes.push_back(
            {"unaligned-pieces", fmt::format("pieces of {} bytes begin inside a 4 KiB block, and cuFile counts each as an "
                                             "unaligned read; {}",
                                             pieces.size_bytes, way_out)});
    }
    if (*plan.pieces_total == 1 && plan.size_bytes >= kLargeRead) {
        shapes.push_back({"one-piece",
                          "the whole read is one piece of one task, so one thread moves it; a smaller task_size or cuFile's "
                          "parallel_io spreads it"});
    }
}

// Figures: docs/measurements/2026-12-02-h200.md.
void of_staging(std::vector<Reason>& shapes, const Plan& plan, const Settings& settings, std::uint64_t threads) {
    const std::uint64_t copy_bytes = std::min(settings.task_size.value, settings.bounce_buffer_size.value);
    if (plan.size_bytes >= kLargeRead && threads > 1 && copy_bytes < kMiB) {
        shapes.push_back(
            {"small-copies", fmt::format("copies of at most {} (the smaller of task_size and bounce_buffer_size): under 1 MiB "
                                         "several threads were measured at half the speed or less",
                                         size_text(copy_bytes))});
    }
    if (plan.size_bytes >= kLargeRead && threads == 1) {
        shapes.push_back(
            {"one-thread", "one thread stages all of it: eight were measured four times (64 MiB) to six times (256 MiB) as fast on a machine with 16 cores"});
    }
}

}  // namespace

std::vector<Reason> list_slow_shapes(const Plan& plan, const Route& route, const Settings& settings, const CufileFacts& cufile,
                                     const CufileUse& use, const ShapeQuestion& question) {
    std::vector<Reason> shapes;
    if (plan.tasks.count == 0) {
        return shapes;
    }
    if (plan.pieces_per_task) {
        of_cufile(shapes, plan, route, execution_in_force(cufile, use));
        if (question.file_offset % kBlock != 0) {
            shapes.push_back({"unaligned-offset", fmt::format("offset {} is no multiple of 4 KiB, so every piece is unaligned",
                                                              question.file_offset)});
        }
        if (plan.tasks.count > 1 && plan.tasks.size_bytes % kBlock != 0) {
            shapes.push_back(
                {"unaligned-tasks", fmt::format("a task_size of {} bytes is no multiple of 4 KiB, so most tasks begin unaligned",
                                                plan.tasks.size_bytes)});
        }
    }
    if (route.engine == EngineKind::staged) {
        of_staging(shapes, plan, settings, question.threads);
    }
    return shapes;
}

}  // namespace waybill
