// The answers that conditions give, and the words that their two files share. Pure.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

#include "route/conditions.hpp"

namespace waybill {

[[nodiscard]] inline Answer yes() { return {}; }
[[nodiscard]] inline Answer no(std::string text, std::string source = {}) { return {Holds::no, std::move(text), std::move(source)}; }
[[nodiscard]] inline Answer not_known(std::string text, std::string source = {}) { return {Holds::unknown, std::move(text), std::move(source)}; }

// A fact that must be there and true.
template <class T>
[[nodiscard]] Answer must_be(const Fact<T>& fact, const std::string& missing) {
    if (fact.known()) {
        return yes();
    }
    if (fact.absent()) {
        return no(fmt::format("{} ({})", missing, fact.source), fact.source);
    }
    return not_known(fmt::format("{}, it may be: {} could not be read ({})", missing, fact.source, fact.why), fact.source);
}

// Where an effective value of cufile.json is from: "/etc/cufile.json:3:7", a variable, or the library itself.
[[nodiscard]] inline std::string cufile_origin(const CufileConfig& config, std::string_view key) {
    for (const auto& [name, where] : config.origins) {
        if (name == key) {
            return where;
        }
    }
    return config.file.empty() ? "cuFile's configuration" : config.file;
}

// Is libcufile's version known to be older than `version` (1000*major + 10*minor)?
[[nodiscard]] inline bool older_than(const MachineFacts& machine, int version) {
    return machine.cufile.version.known() && machine.cufile.version.value < version;
}
[[nodiscard]] inline bool at_least(const MachineFacts& machine, int version) {
    return machine.cufile.version.known() && machine.cufile.version.value >= version;
}

}  // namespace waybill
