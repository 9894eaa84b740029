#include <fmt/format.h>

#include "base/text.hpp"
#include "settings/cufile_keys.hpp"
#include "waybill/check.hpp"

namespace waybill {
namespace {

std::string words(const Verdict& verdict, std::string_view yes) {
    if (verdict.possible) {
        return verdict.path ? fmt::format("yes, by {}", to_text(*verdict.path)) : std::string(yes);
    }
    return fmt::format("no: {} ({})", verdict.first_failing->text, verdict.first_failing->id);
}

void add_line(std::string& text, std::string_view name, std::string_view value) {
    if (!value.empty()) {
        text += fmt::format("  {:<10}{}\n", name, escape_controls(value));  // a saved machine's files may say anything
    }
}

std::string stack_text(const BlockFacts& block) {
    std::string text;
    for (const BlockLayer& layer : block.stack) {
        text += fmt::format("{}{}{}", text.empty() ? "" : " on ", layer.name, layer.pci_address.empty() ? "" : " (" + layer.pci_address + ")");
    }
    return text;
}

std::string place_text(const FileFacts& file) {
    const MountFacts& mount = file.mount.value;
    if (!file.mount.known()) {
        return "its mount is not known: " + file.mount.why;
    }
    return fmt::format("{} at {}{}{}", mount.file_system, mount.mount_point, mount.root.empty() || mount.root == "/" ? "" : ", folder " + mount.root,
                       file.block.value.stack.empty() ? "" : ", on " + stack_text(file.block.value));
}

std::string gpu_text(const GpuFacts& gpu) {
    return gpu.present.known() ? fmt::format("{}{}{}", gpu.device, gpu.name.empty() ? "" : ", " + gpu.name,
                                             gpu.pci_address.empty() ? "" : " at " + gpu.pci_address)
                               : std::string();
}

std::string_view distance_text(PciDistance distance) {
    switch (distance) {
        case PciDistance::same_switch: return "drive and GPU below one switch";
        case PciDistance::same_root: return "drive and GPU below one root complex";
        case PciDistance::same_socket: return "drive and GPU on one socket, below different root complexes";
        case PciDistance::other_socket: return "drive and GPU on different sockets";
        case PciDistance::unknown: break;
    }
    return "";
}

void add_finding(std::string& text, const Finding& finding) {
    text += fmt::format("\n[{}] {}\n", to_text(finding.severity), finding.id);
    add_line(text, "seen", finding.seen);
    add_line(text, "where", finding.source);
    add_line(text, "fix", finding.fix);
    add_line(text, "in vain", finding.not_needed);
}

}  // namespace

std::string_view to_text(Severity severity) noexcept {
    switch (severity) {
        case Severity::blocks_direct: return "blocks-direct";
        case Severity::blocks_cufile: return "blocks-cufile";
        case Severity::slows: return "slows";
        case Severity::note: return "note";
    }
    return "note";
}

std::string to_text(const CheckReport& report) {
    std::string text = fmt::format("{} to gpu:{}: direct {}\n", escape_controls(report.file), report.device, words(report.direct, "yes"));
    add_line(text, "cuFile", words(report.cufile, report.direct.possible ? "can serve the file" : "can serve the file, in its compatibility mode"));
    const Route& route = report.route;
    add_line(text, "route", route.refused ? fmt::format("a read would be refused: {} ({})", route.refused->text, route.refused->id)
                                          : fmt::format("a read would go by {}: {} ({})", to_text(route.expected_path),
                                                        route.reasons.front().text, route.reasons.front().id));
    add_line(text, "file", place_text(report.file_facts));
    add_line(text, "GPU", gpu_text(report.gpu));
    add_line(text, "distance", distance_text(report.surroundings.distance));
    if (report.machine.nvidia_driver.known()) {
        add_line(text, "driver", report.machine.nvidia_driver.value);
    }
    if (report.machine.cufile.library.known()) {
        const int version = report.machine.cufile.version.value;
        add_line(text, "libcufile", fmt::format("{}{}", report.machine.cufile.library.value,
                                                report.machine.cufile.version.known()
                                                    ? ", version " + cufile_version_text(version)
                                                    : std::string()));
    }
    for (const ProbeStep& step : report.probe) {
        add_line(text, "tried", fmt::format("{}: {}; foretold: {}{}", step.what, step.result, step.foretold,
                                            step.agrees ? "" : " -- DISAGREES"));
    }
    for (const Finding& finding : report.findings) {
        add_finding(text, finding);
    }
    return text;
}

std::string to_text(const std::vector<MountReport>& mounts) {
    std::string text = fmt::format("{:<32} {:<10} {:<12} {:<8} first reason\n", "mounted at", "type", "direct", "cuFile");
    for (const MountReport& report : mounts) {
        const Verdict& verdict = report.direct.possible ? report.cufile : report.direct;
        text += fmt::format("{:<32} {:<10} {:<12} {:<8} {}\n", report.mount.mount_point, report.mount.file_system,
                            report.direct.path ? to_text(*report.direct.path) : "no", report.cufile.possible ? "yes" : "no",
                            verdict.first_failing ? verdict.first_failing->id : "");
    }
    return text;
}

}  // namespace waybill
