#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include "base/child.hpp"
#include "base/text.hpp"
#include "gpu/driver_probe.hpp"
#include "gpu/properties_file.hpp"
#include "probe/cases.hpp"
#include "probe/paths.hpp"

namespace waybill {
namespace {

using End = Tried::End;

constexpr std::uint64_t kReadLimitNs = 30'000'000'000;

// What the read's own counters say, as cuFile's users write them.
std::string counters_text(const nlohmann::json& receipt) {
    const auto evidence = receipt.find("evidence");
    if (evidence == receipt.end() || !evidence->is_object() || !evidence->contains("cufile") || !(*evidence)["cufile"].is_object()) {
        return {};
    }
    const auto& counters = (*evidence)["cufile"];
    return fmt::format(", n={} nvfs={} p2pdma={} posix={}", counters.value("n", 0), counters.value("nvfs", 0), counters.value("p2pdma", 0),
                       counters.value("posix", 0));
}

Tried tried_from(const ChildEnd& ended) {
    using Kind = ChildEnd::Kind;
    if (ended.kind != Kind::exited) {
        const bool hung = ended.kind == Kind::out_of_time || ended.kind == Kind::stuck;
        const std::string text = to_text(ended, duration_text(kReadLimitNs));
        return hung ? Tried{End::hung, "", "", text}
                    : Tried{ended.kind == Kind::signalled ? End::crashed : End::refused, "", "internal", text};
    }
    const auto json = nlohmann::json::parse(ended.output, nullptr, false);
    if (!json.is_object()) {
        return {End::crashed, "", "", fmt::format("ended with {} and said nothing", ended.number)};
    }
    const std::string code = json.value("code", "");
    if (json.value("schema", "") == "waybill.error/1") {
        return {End::refused, "", code, code + ": " + json.value("text", "")};
    }
    const std::string path = json.value("path", "");
    const std::string judgement = json.value("judgement", "");
    // A path that a live counter contradicts is not the one that was taken.
    return {End::done, judgement == "contradicted" ? "contradicted" : path, "", path + ", " + judgement + counters_text(json)};
}

// As small as tells the path; a threshold would send it another way.
Tried try_read(const CheckReport& report, const SettingValues& settings, const std::filesystem::path& program, const std::string& to,
               const char* compat_mode) {
    std::vector<std::string> words{"read", report.file, "--size", "64KiB", "--to", to, "--json"};
    for (const auto& [name, value] : settings) {
        words.insert(words.end(), {"--set", name + "=" + value});
    }
    words.insert(words.end(), {"--set", "evidence=on", "--set", "gds_threshold=0", "--compat-mode", compat_mode});
    return tried_from(run_child(program, words, kReadLimitNs));
}

Tried tried_from(const DriverProbe& probed, const char* done) {
    const End end = probed.opened ? End::done : probed.crashed ? End::crashed : probed.hung ? End::hung : End::refused;
    return {end, probed.opened ? done : "", "", probed.text};
}

// The driver, then the file. The configuration that a setting names goes to the child as cuFile looks for it.
void probe_driver_and_file(CheckReport& report, const Settings& settings) {
    const PropertiesFile properties(settings.cufile_json.value);
    const std::string& library = settings.cufile_library.value;
    const std::uint64_t limit_ns = settings.driver_timeout.value;
    const Tried opened = tried_from(probe_driver(library, limit_ns), "opened");
    add_step(report, step_of("driver-open", foretold_driver_open(report), opened), opened.end);
    if (opened.end == End::done) {
        const Tried taken = tried_from(probe_registration(library, report.file, report.direct.possible, limit_ns), "registered");
        add_step(report, step_of("handle-registration", foretold_registration(report), taken), taken.end);
    }
}

}  // namespace

void probe_paths(CheckReport& report, const SettingLayers& layers, const std::filesystem::path& program) {
    if (!std::filesystem::is_regular_file(report.file)) {
        return;
    }
    probe_driver_and_file(report, resolve_settings(layers));
    const auto add = [&](const char* what, const std::string& to, const char* compat_mode, const std::string& foretold) {
        const Tried tried = try_read(report, layers.call, program, to, compat_mode);
        add_step(report, step_of(what, foretold, tried), tried.end);
        return tried.end == End::done;
    };
    // The driver is asked even where the files show no GPU: it has the last word.
    const bool seen = !report.gpu.present.absent();
    const std::string to = "gpu:" + std::to_string(report.device);
    if (add("staged", to, "on", seen ? "staged" : "no-gpu") || seen) {
        add("cufile", to, "off", foretold_cufile_read(report));
    } else {
        add("host", "host", "on", "host");
    }
}

}  // namespace waybill
