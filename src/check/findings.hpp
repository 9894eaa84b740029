// From facts and a route to a report: the verdicts and all findings in the order in which to fix them. Pure.
#pragma once

#include "check/rules.hpp"
#include "waybill/check.hpp"

namespace waybill {

[[nodiscard]] Verdict direct_verdict(const FileFacts& file, const MachineFacts& machine, const GpuFacts& gpu);
[[nodiscard]] Verdict cufile_verdict(const FileFacts& file, const MachineFacts& machine, const GpuFacts& gpu);

// What conditions fail, then what cufile.json says, then the rules.
[[nodiscard]] std::vector<Finding> find_all(const CheckSubject& subject);

}  // namespace waybill
