// Rules: what slows reads or is worth knowing. What blocks a path is a condition (route/conditions.cpp) and no rule.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "waybill/facts.hpp"
#include "waybill/finding.hpp"

namespace waybill {

struct CheckSubject {
    const FileFacts& file;
    const MachineFacts& machine;
    const GpuFacts& gpu;
    const SurroundingFacts& surroundings;
};

struct Rule {
    std::string_view id;
    Severity severity = Severity::note;
    // Fills seen, source, fix and not_needed where the rule applies; may make a doubt a note.
    bool (*ask)(const CheckSubject& subject, Finding& finding) = nullptr;
};

// In the order in which findings are shown.
[[nodiscard]] std::span<const Rule> rules();

[[nodiscard]] std::optional<Finding> apply(const Rule& rule, const CheckSubject& subject);

}  // namespace waybill
