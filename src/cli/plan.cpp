#include "cli/commands.hpp"
#include "cli/print.hpp"
#include "waybill/file.hpp"

namespace waybill {

int run_plan(const PlanArguments& arguments) {
    const Explanation explanation =
        explain(arguments.file, arguments.to, arguments.offset, arguments.size_bytes, {arguments.settings, {}}, arguments.registered);
    print(arguments.json ? to_json(explanation, 2) + "\n" : to_text(explanation));
    const bool would_crash = explanation.route.doubt && explanation.cufile.config.ends_process;
    return explanation.route.refused || would_crash ? 1 : 0;  // a truthful no
}

}  // namespace waybill
