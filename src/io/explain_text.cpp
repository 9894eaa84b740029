#include <fmt/format.h>

#include "base/text.hpp"
#include "waybill/file.hpp"

namespace waybill {

std::string to_text(const Explanation& explanation) {
    const Route& route = explanation.route;
    const Plan& plan = explanation.plan;
    std::string text = fmt::format("{} of {} to {} would go by {} (engine {})\n", size_text(plan.size_bytes), explanation.file.path,
                                   explanation.device < 0 ? "host memory" : fmt::format("gpu:{}", explanation.device),
                                   to_text(route.expected_path), to_text(route.engine));
    if (route.refused) {
        text = fmt::format("a read of {} would be REFUSED: {} ({})\n", explanation.file.path, route.refused->text, route.refused->id);
    }
    std::string_view name = "why";
    for (const Reason& reason : route.reasons) {
        text += fmt::format("  {:<10}{} ({})\n", name, reason.text, reason.id);
        name = "";
    }
    if (route.doubt) {
        text += fmt::format("  {:<10}cuFile will likely refuse the file: {} ({})\n", "doubt", route.doubt->text, route.doubt->id);
    }
    text += fmt::format("  {:<10}{} of {}, the last one of {}\n", "tasks", plan.tasks.count, size_text(plan.tasks.size_bytes),
                        size_text(plan.tasks.last_bytes));
    if (plan.pieces_per_task) {
        text += fmt::format("  {:<10}{} of {} in each task, {} in all{}\n", "pieces", plan.pieces_per_task->count,
                            size_text(plan.pieces_per_task->size_bytes), plan.pieces_total.value_or(0),
                            plan.extrapolated() ? " (extrapolated: not measured for this version)" : "");
    }
    if (plan.device_reads) {
        text += fmt::format("  {:<10}{} in cuFile's compatibility mode\n", "reads", *plan.device_reads);
    }
    text += fmt::format("  {:<10}{}\n", "cache", to_text(route.page_cache));
    return text;
}

}  // namespace waybill
