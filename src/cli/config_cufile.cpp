#include "cli/config_cufile.hpp"

#include <fmt/format.h>

#include "base/environment.hpp"
#include "base/text.hpp"
#include "facts/cufile_json.hpp"
#include "facts/cufile_library.hpp"

namespace waybill {
namespace {

std::optional<int> maybe(const Fact<int>& version) { return version.known() ? std::optional(version.value) : std::nullopt; }

std::string library_text(const CufileSummary& summary) {
    if (!summary.library.known()) {
        return "no libcufile is here; the values are those of version " + cufile_version_text(kNewestCufile);
    }
    return summary.version.known() ? fmt::format("{}, version {}", summary.library.value, cufile_version_text(summary.version.value))
                                   : fmt::format("{}, of a version that its file does not tell; the values are those of {}", summary.library.value,
                                                 cufile_version_text(kNewestCufile));
}

}  // namespace

CufileSummary gather_cufile_summary(const Settings& settings) {
    const MachineRoot root;
    const Environment environment = process_environment();
    CufileSummary summary;
    summary.library = find_cufile_library(root, settings, environment);
    if (summary.library.known()) {
        summary.version = cufile_version_of(root, summary.library.value);
    }
    summary.config = read_cufile_config(root, settings, environment, maybe(summary.version));
    summary.reading = read_cufile_values(summary.config.entries, environment, maybe(summary.version));
    return summary;
}

std::string_view to_text(CufileOrigin origin) noexcept {
    switch (origin) {
        case CufileOrigin::file: return "file";
        case CufileOrigin::variable: return "variable";
        case CufileOrigin::built_in: break;
    }
    return "default";
}

std::string_view to_text(CufileProblem::Kind kind) noexcept {
    using Kind = CufileProblem::Kind;
    switch (kind) {
        case Kind::refused: return "refused";
        case Kind::passed_over: return "ignored";
        case Kind::contradiction: return "contradiction";
        case Kind::ends_process: return "ends-process";
        case Kind::ends_read: return "ends-read";
        case Kind::unheard: break;
    }
    return "unknown";
}

std::string cufile_text(const CufileSummary& summary) {
    std::string text = fmt::format("library: {}\n", library_text(summary));
    text += fmt::format("files:   {}\n", summary.config.files.empty() ? "none: the values built into the library hold" : join(summary.config.files, ", then "));
    if (!summary.config.missing_file.empty()) {
        text += fmt::format("note: {} is named and cannot be read, which cuFile passes over without a word\n", summary.config.missing_file);
    }
    if (!summary.config.problem.empty()) {
        text += fmt::format("invalid: {}\n", summary.config.problem);
    }
    for (const CufileValue& value : summary.reading.values) {
        text += fmt::format("{:<56} {:<28} {}\n", value.key->path, value.value, value.where);
    }
    for (const CufileProblem& problem : summary.reading.problems) {
        text += fmt::format("{}: {}\n", to_text(problem.kind), problem.text);
    }
    return text;
}

std::string cufile_markdown() {
    std::string text = "| key | accepted | built in | shipped | variable | versions | meaning |\n| --- | --- | --- | --- | --- | --- | --- |\n";
    for (const CufileKey& key : cufile_keys()) {
        constexpr int kOldest = 1150;
        std::string built_in(key.built_in);
        for (const int version : {kOldest, 1160, 1190}) {
            const std::string_view then = built_in_of(key, version);
            if (key.known_to(version) && then != key.built_in) {
                built_in += fmt::format("; {} in {}", then, cufile_version_text(version));
            }
        }
        const std::string versions = key.until != 0    ? fmt::format("{} to {}", key.since == 0 ? "1.15" : cufile_version_text(key.since),
                                                                     cufile_version_text(key.until - 10))
                                     : key.since == 0 ? std::string("all")
                                                      : "from " + cufile_version_text(key.since);
        text += fmt::format("| `{}` | {} | {} | {} | {} | {} | {} |\n", key.path, key.heard ? accepted_text(key, kNewestCufile) : "passed over", built_in,
                            key.shipped.empty() ? key.built_in : key.shipped, key.variable.empty() ? "" : fmt::format("`{}`", key.variable), versions,
                            key.meaning);
    }
    return text;
}

}  // namespace waybill
