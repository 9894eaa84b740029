#include "plan/alternatives.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "plan/pieces.hpp"

namespace waybill {
namespace {

constexpr std::uint64_t kLeastTaskBytes = 64 * 1024;
constexpr std::uint64_t kMostPieces = 8;  // cuFile takes no larger max_request_parallelism (all versions measured)

// Plans with one thing changed, of those only the ones that differ.
class Changes {
public:
    Changes(const Plan& plan, const Route& route, const Settings& settings, const CufileFacts& cufile, const CufileUse& use)
        : plan_(plan), route_(route), settings_(settings), cufile_(cufile), use_(use) {}

    void task_size(std::uint64_t bytes) {
        Settings settings = settings_;
        settings.task_size.value = bytes;
        add("task_size", exact_size_text(bytes), make_plan(route_, plan_.size_bytes, settings, cufile_, use_));
    }

    void registered(bool value) {
        add("registered", value ? "true" : "false",
            make_plan(route_, plan_.size_bytes, settings_, cufile_, {use_.version, value}));
    }

    void execution(const std::string& key, const std::string& value, const Execution& execution) {
        CufileFacts cufile = cufile_;
        if (cufile.config.file.empty()) {
            cufile.config.file = "cufile.json";
        }
        cufile.config.max_io_threads = execution.threads;
        cufile.config.max_request_parallelism = execution.parallelism;
        cufile.config.min_io_threshold_bytes = execution.threshold_bytes;
        cufile.config.parallel_io = execution.parallel_io;
        cufile.config.max_direct_io_bytes = execution.direct_io_bytes;
        add(key, value, make_plan(route_, plan_.size_bytes, settings_, cufile, use_));
    }

    std::vector<Alternative> take() { return std::move(list_); }

private:
    void add(const std::string& setting, const std::string& value, Plan plan) {
        if (plan.tasks != plan_.tasks || plan.pieces_per_task != plan_.pieces_per_task ||
            plan.pieces_total != plan_.pieces_total) {
            list_.push_back({setting, value, std::move(plan)});
        }
    }

    const Plan& plan_;
    const Route& route_;
    const Settings& settings_;
    const CufileFacts& cufile_;
    CufileUse use_;
    std::vector<Alternative> list_;
};

// A quarter of the size, four and sixteen times it, and the whole request in one task.
void change_task_size(Changes& changes, std::uint64_t task_bytes, std::uint64_t size_bytes) {
    if (task_bytes / 4 >= kLeastTaskBytes && task_bytes / 4 < size_bytes) {
        changes.task_size(task_bytes / 4);
    }
    for (const std::uint64_t times : {4U, 16U}) {
        if (task_bytes < size_bytes / times) {
            changes.task_size(task_bytes * times);
        }
    }
    changes.task_size(size_bytes);
}

void change_execution(Changes& changes, const Execution& execution) {
    Execution other = execution;
    if (!execution.parallel_io) {
        other.parallel_io = true;
        changes.execution("execution.parallel_io", "true", other);
        return;
    }
    if (std::min(execution.threads, execution.parallelism) < kMostPieces) {
        other.threads = std::max(execution.threads, kMostPieces);
        other.parallelism = kMostPieces;
        changes.execution("execution.max_io_threads and max_request_parallelism", std::to_string(kMostPieces), other);
    }
    other = execution;
    other.threshold_bytes = std::max<std::uint64_t>(4096, execution.threshold_bytes / 4 / 4096 * 4096);
    changes.execution("execution.min_io_threshold_size_kb", std::to_string(other.threshold_bytes / 1024), other);
}

}  // namespace

std::vector<Alternative> list_alternatives(const Plan& plan, const Route& route, const Settings& settings,
                                           const CufileFacts& cufile, const CufileUse& use) {
    Changes changes(plan, route, settings, cufile, use);
    if (plan.size_bytes == 0) {
        return {};
    }
    change_task_size(changes, settings.task_size.value, plan.size_bytes);
    if (plan.pieces_per_task) {
        changes.registered(!use.registered);
        change_execution(changes, execution_in_force(cufile, use));
    }
    return changes.take();
}

}  // namespace waybill
