#include "probe/cases.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

namespace waybill {
namespace {

// Conditions that stop the driver itself; what else makes cuFile useless shows when the file is registered.
constexpr std::array<std::string_view, 4> kOfDriver{"cufile-missing", "cufile-dependency-missing", "cufile-json-invalid", "cufile-json-bad-value"};

// What cuFile's driver and its registration do where there is no GPU differs by library and was not measured.
bool without_gpu(const CheckReport& report) {
    const auto& why = report.cufile.first_failing;
    return why && (why->id == "no-gpu" || why->id == "gpu-driver-missing");
}

bool came_as_foretold(const std::string& foretold, const Tried& tried) {
    using End = Tried::End;
    switch (tried.end) {
        case End::done: return tried.path == foretold || foretold == "unknown";
        case End::crashed: return foretold == "crashed";
        case End::hung: return foretold == "hung";
        case End::refused: break;
    }
    constexpr std::array<std::string_view, 5> kRefusals{"", "cufile-unavailable", "cufile-error", "route-refused", "no-gpu"};
    const bool refusal = std::find(kRefusals.begin(), kRefusals.end(), tried.error) != kRefusals.end();
    return (refusal && (foretold == "refused" || foretold == "unknown")) || (!tried.error.empty() && tried.error == foretold);
}

Finding crash_of(const ProbeStep& step) {
    return {"probe-crashed", Severity::blocks_cufile, fmt::format("{}: the child process {}", step.what, step.result), "a child process of --probe",
            "use another version of the library that crashed; reads with compat_mode=on do without cuFile. Please report it with an "
            "archive of --save",
            ""};
}

Finding hang_of(const ProbeStep& step) {
    return {"probe-hung", Severity::blocks_cufile, fmt::format("{}: the child process {}", step.what, step.result), "a child process of --probe",
            "look at what the findings below say of /proc/modules and nvidia-fs; reads with compat_mode=on do without cuFile. Please "
            "report it with an archive of --save",
            "waiting longer, where the library spins"};
}

Finding disagreement_of(const ProbeStep& step) {
    return {"probe-disagrees", Severity::note, fmt::format("{}: {} came of it, and {} was foretold", step.what, step.result, step.foretold),
            "a child process of --probe", "believe what was tried; please report it with an archive of --save", ""};
}

// What was tried has the last word: a verdict that it disproves is no verdict. A step of Waybill's own proves nothing of cuFile.
void correct_verdicts(CheckReport& report, const ProbeStep& step, Tried::End end, const Finding& finding) {
    if (step.what == "staged" || step.what == "host") {
        return;
    }
    const Reason why{finding.id, finding.seen};
    if (end != Tried::End::done) {
        report.cufile = report.cufile.possible ? Verdict{false, std::nullopt, why} : report.cufile;
        report.direct = report.direct.possible ? Verdict{false, std::nullopt, why} : report.direct;
        return;
    }
    if (step.what != "cufile") {
        return;  // that the driver opens is not yet a read
    }
    report.cufile = {true, std::nullopt, std::nullopt};
    if (report.direct.possible) {
        report.direct = {false, std::nullopt, why};  // another path than the one foretold
    }
}

}  // namespace

std::string foretold_driver_open(const CheckReport& report) {
    const auto& why = report.cufile.first_failing;
    if (without_gpu(report)) {
        return "unknown";
    }
    if (why && why->id == "kernel-modules-unreadable") {
        return "hung";
    }
    if (!why || std::find(kOfDriver.begin(), kOfDriver.end(), why->id) == kOfDriver.end()) {
        return "opened";
    }
    const CufileConfig& config = report.machine.cufile.config;
    return why->id != "cufile-json-invalid" || !config.ends_process ? "refused" : config.ends_in_read ? "opened" : "crashed";
}

std::string foretold_registration(const CheckReport& report) {
    const bool registers = report.cufile.possible || report.machine.cufile.config.ends_in_read;
    return without_gpu(report) ? "unknown" : registers ? "registered" : "refused";
}

std::string foretold_cufile_read(const CheckReport& report) {
    return report.cufile.possible ? std::string(to_text(report.direct.path.value_or(Path::cufile_posix))) : "refused";
}

ProbeStep step_of(const std::string& what, const std::string& foretold, const Tried& tried) {
    ProbeStep step;
    step.what = what;
    step.done = tried.end == Tried::End::done;
    step.result = tried.text;
    step.foretold = foretold;
    step.agrees = came_as_foretold(foretold, tried);
    return step;
}

void add_step(CheckReport& report, ProbeStep step, Tried::End end) {
    const bool died = end == Tried::End::crashed || end == Tried::End::hung;
    if (died || !step.agrees) {
        const Finding finding = end == Tried::End::crashed ? crash_of(step) : died ? hang_of(step) : disagreement_of(step);
        report.findings.insert(died ? report.findings.begin() : report.findings.end(), finding);
        correct_verdicts(report, step, end, finding);
    }
    report.probe.push_back(std::move(step));
}

}  // namespace waybill
