#include "check/cufile_rules.hpp"

#include <fmt/format.h>

#include "settings/cufile_values.hpp"

namespace waybill {
namespace {

std::optional<int> version_of(const CheckSubject& subject) {
    const Fact<int>& version = subject.machine.cufile.version;
    return version.known() ? std::optional(version.value) : std::nullopt;
}

std::string library_text(const CheckSubject& subject) {
    const auto version = version_of(subject);
    return version ? "libcufile " + cufile_version_text(*version) : "libcufile, whose version is not known,";
}

// Without the library nobody reads the file.
bool reads_files(const CheckSubject& subject) { return subject.machine.cufile.library.known(); }

CufileReading reading_of(const CheckSubject& subject) {
    const Environment variables(subject.surroundings.cufile_variables.begin(), subject.surroundings.cufile_variables.end());
    return read_cufile_values(subject.machine.cufile.config.entries, variables, version_of(subject));
}

// The texts of one kind of problem, as a finding.
bool tell(const CheckSubject& subject, CufileProblem::Kind kind, Finding& finding) {
    if (!reads_files(subject)) {
        return false;
    }
    finding.seen = texts_of(reading_of(subject), kind);
    finding.source = "cufile.json, CUFILE_*";
    return !finding.seen.empty();
}

// "execution.max_io_threads 8 (shipped: 4), ..."
std::string unlike_the_shipped_file(int version) {
    std::string text;
    for (const CufileKey& key : cufile_keys()) {
        const std::string_view built_in = built_in_of(key, version);
        const std::string_view shipped = key.shipped.empty() ? key.built_in : key.shipped;
        if (key.known_to(version) && built_in != shipped) {
            text += fmt::format("{}{} {} (shipped: {})", text.empty() ? "" : ", ", key.path, built_in, shipped);
        }
    }
    return text;
}

}  // namespace

bool cufile_json_missing(const CheckSubject& subject, Finding& finding) {
    const CufileConfig& config = subject.machine.cufile.config;
    // A name that leads nowhere is a mistake with and without the library.
    if (config.missing_file.empty() && (!reads_files(subject) || !config.file.empty())) {
        return false;
    }
    if (!config.missing_file.empty()) {
        finding.seen = fmt::format("{} is named and cannot be read, which cuFile passes over without a word", config.missing_file);
    } else {
        finding.seen = "there is no /etc/cufile.json";
    }
    if (config.file.empty()) {
        finding.seen += fmt::format("; the values built into {} are in force, which are not those of the file that NVIDIA ships: {}",
                                    library_text(subject), unlike_the_shipped_file(version_of(subject).value_or(kNewestCufile)));
    } else {
        finding.seen += fmt::format("; {} alone is in force", config.file);
    }
    finding.source = "/etc/cufile.json, CUFILE_ENV_PATH_JSON";
    finding.fix = "if other values are wanted, write them into /etc/cufile.json or a file that CUFILE_ENV_PATH_JSON names; waybill config --cufile "
                  "prints all of them";
    finding.not_needed = "cuFile works without a file, and so do staged reads";
    return true;
}

bool cufile_json_unknown_key(const CheckSubject& subject, Finding& finding) {
    if (!tell(subject, CufileProblem::Kind::unheard, finding)) {
        return false;
    }
    finding.seen = fmt::format("{} passes over without a word: {}", library_text(subject), finding.seen);
    finding.fix = "correct the name, or take it out";
    return true;
}

bool cufile_json_ignored_value(const CheckSubject& subject, Finding& finding) {
    if (!tell(subject, CufileProblem::Kind::passed_over, finding)) {
        return false;
    }
    finding.fix = "write a value that is accepted";
    return true;
}

bool cufile_json_contradiction(const CheckSubject& subject, Finding& finding) {
    if (!tell(subject, CufileProblem::Kind::contradiction, finding)) {
        return false;
    }
    finding.fix = "keep the one that is meant";
    return true;
}

}  // namespace waybill
