#include <fmt/format.h>

#include "base/text.hpp"
#include "plan/picture.hpp"
#include "plan/pieces.hpp"
#include "waybill/file.hpp"

namespace waybill {
namespace {

std::string row(std::string_view name, std::string_view text) { return fmt::format("  {:<10}{}\n", name, text); }

std::string answer(const Explanation& explanation) {
    const Route& route = explanation.route;
    if (route.refused) {
        return fmt::format("a read of {} would be REFUSED: {} ({})\n", escape_controls(explanation.file.path), route.refused->text,
                           route.refused->id);
    }
    if (route.doubt && explanation.cufile.config.ends_process) {
        return fmt::format("a read of {} would FAIL: {} ({}); a child process tries the driver first, so this one goes on\n",
                           escape_controls(explanation.file.path), route.doubt->text, route.doubt->id);
    }
    return fmt::format("{} of {} to {} would go by {} (engine {})\n", size_text(explanation.plan.size_bytes),
                       escape_controls(explanation.file.path), explanation.device < 0 ? "host memory" : fmt::format("gpu:{}", explanation.device),
                       to_text(route.expected_path), to_text(route.engine));
}

std::string reasons(const Route& route) {
    std::string text;
    std::string_view name = "why";
    for (const Reason& reason : route.reasons) {
        text += row(name, fmt::format("{} ({})", reason.text, reason.id));
        name = "";
    }
    if (route.doubt) {
        text += row("doubt", fmt::format("cuFile will likely refuse the file: {} ({})", route.doubt->text, route.doubt->id));
    }
    return text;
}

std::string shares_row(std::string_view name, const Shares& shares, std::string_view note) {
    return fmt::format("  {:<10}{:>7}  {:>10}  {:>10}  {}\n", name, shares.count, size_text(shares.size_bytes),
                       size_text(shares.last_bytes), note);
}

std::string table(const Plan& plan) {
    std::string text = fmt::format("  {:<10}{:>7}  {:>10}  {:>10}\n", "", "count", "each", "the last");
    text += shares_row("tasks", plan.tasks, "");
    if (plan.pieces_per_task) {
        text += shares_row("pieces", *plan.pieces_per_task, fmt::format("of a task; {} in all", plan.pieces_total.value_or(0)));
    }
    if (plan.pieces_of_last_task) {
        text += shares_row("", *plan.pieces_of_last_task, "of the last task");
    }
    if (plan.device_reads) {
        text += fmt::format("  {:<10}{:>7}  {:>10}  {:>10}  of the file, in cuFile's compatibility mode\n", "reads",
                            *plan.device_reads, "", "");
    }
    text += row("picture", "tasks  " + draw(plan.tasks));
    if (plan.pieces_per_task) {
        text += row("", "task 1 " + draw(*plan.pieces_per_task));
    }
    return text;
}

std::string threads(const Explanation& explanation) {
    std::string text = fmt::format("{} of Waybill", explanation.threads);
    if (explanation.plan.pieces_per_task && explanation.plan.pieces_per_task->count > 1) {
        text += fmt::format("; the last piece of a task stays in the thread that has the task, the others go to cuFile's {}",
                            execution_in_force(explanation.cufile, explanation.use).threads);
    }
    return row("threads", text);
}

std::string cufile_rows(const Explanation& explanation) {
    const CufileFacts& cufile = explanation.cufile;
    const Execution keys = execution_in_force(cufile, explanation.use);
    std::string text = row(
        "cuFile",
        fmt::format("{}: max_io_threads {}, max_request_parallelism {}, min_io_threshold_size_kb {}, parallel_io {}; "
                    "destination {}registered",
                    cufile.config.file.empty() ? "no cufile.json, so built-in values" : cufile.config.file, keys.threads,
                    keys.parallelism, keys.threshold_bytes / 1024, keys.parallel_io, explanation.use.registered ? "" : "not "));
    if (!cufile.config.missing_file.empty()) {
        text += row("", fmt::format("{} is named and cannot be read, which cuFile passes over without a word", cufile.config.missing_file));
    }
    const std::string note = basis_note(explanation.plan.basis);
    return note.empty() ? text : text + row("", note);
}

std::string changes(const Explanation& explanation) {
    std::string text;
    std::string_view name = "changes";
    for (const Alternative& other : explanation.alternatives) {
        std::string line = fmt::format("{} {} would give {} task{}", other.setting, other.value, other.plan.tasks.count,
                                       other.plan.tasks.count == 1 ? "" : "s");
        if (other.plan.pieces_per_task) {
            line += fmt::format(" of {} piece{}, {} in all", other.plan.pieces_per_task->count,
                                other.plan.pieces_per_task->count == 1 ? "" : "s", other.plan.pieces_total.value_or(0));
        }
        text += row(name, line);
        name = "";
    }
    return text;
}

}  // namespace

std::string to_text(const Explanation& explanation) {
    std::string text = answer(explanation) + reasons(explanation.route) + table(explanation.plan) + threads(explanation);
    if (explanation.plan.pieces_per_task) {
        text += cufile_rows(explanation);
    }
    text += row("cache", to_text(explanation.route.page_cache));
    for (const Reason& shape : explanation.slow_shapes) {
        text += row("slow", fmt::format("{} ({})", shape.text, shape.id));
    }
    for (const std::string& note : explanation.notes) {
        text += row("note", note);
    }
    return text + changes(explanation);
}

}  // namespace waybill
