#include <fmt/format.h>

#include "cli/check_compare.hpp"
#include "cli/commands.hpp"
#include "cli/print.hpp"
#include "probe/paths.hpp"
#include "waybill/error.hpp"

namespace waybill {
namespace {

int compare(const CheckArguments& arguments, const std::string& file) {
    const SettingLayers layers{arguments.settings, {}};
    const std::vector<Change> changes =
        changes_between(check(file, arguments.device, layers, *arguments.compare), check(file, arguments.device, layers, arguments.root));
    if (arguments.json) {
        print(changes_json(changes) + "\n");
        return changes.empty() ? 0 : 1;
    }
    std::string text = changes.empty() ? "nothing has changed\n" : fmt::format("{} changes\n", changes.size());
    for (const Change& change : changes) {
        text += fmt::format("  {}: {} -> {}\n", change.where, change.before.empty() ? "(not there)" : change.before,
                            change.after.empty() ? "(not there)" : change.after);
    }
    print(text);
    return changes.empty() ? 0 : 1;
}

int mounts(const CheckArguments& arguments) {
    const auto reports = check_mounts(arguments.device, {arguments.settings, {}}, arguments.root);
    print(arguments.json ? to_json(reports, 2) + "\n" : to_text(reports));
    for (const MountReport& report : reports) {
        if (report.direct.possible) {
            return 0;
        }
    }
    return 1;
}

void refuse_contradictions(const CheckArguments& arguments) {
    if (arguments.root != "/" && (arguments.save || arguments.probe)) {
        throw Error(ErrorCode::invalid_argument, "--save and --probe are for the running machine; leave --root away");
    }
    if (arguments.save && arguments.save->empty()) {
        throw Error(ErrorCode::invalid_argument, "--save has no name; give an archive's (state.tar.gz) or a folder's (state/)");
    }
    if (arguments.compare && (arguments.save || arguments.probe)) {
        throw Error(ErrorCode::invalid_argument, "--compare goes with --root, --device and --json alone");
    }
    if (arguments.mounts && (arguments.compare || arguments.save || arguments.probe)) {
        throw Error(ErrorCode::invalid_argument, "--mounts goes with --root, --device and --json alone");
    }
}

}  // namespace

int run_check(const CheckArguments& arguments) {
    refuse_contradictions(arguments);
    if (arguments.mounts) {
        return mounts(arguments);
    }
    const std::string file = !arguments.file.empty() ? arguments.file : arguments.root == "/" ? "." : "/";
    if (arguments.compare) {
        return compare(arguments, file);
    }
    const SettingLayers layers{arguments.settings, {}};
    if (arguments.save) {
        save_machine(*arguments.save, file, arguments.device, layers);
        print_note(fmt::format("saved to {}", *arguments.save));
    }
    CheckReport report = check(file, arguments.device, layers, arguments.root);
    if (arguments.probe) {
        probe_paths(report, layers, "/proc/self/exe");
    }
    print(arguments.json ? to_json(report, 2) + "\n" : to_text(report));
    return report.direct.possible ? 0 : 1;
}

}  // namespace waybill
