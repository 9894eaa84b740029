// From facts and a route to a report: the verdicts and all findings in the order in which to fix them. Pure.
#pragma once

#include "check/rules.hpp"
#include "waybill/check.hpp"

namespace waybill {

// The first condition of routing that fails, or the first rule that says that the library cannot work here.
[[nodiscard]] Verdict direct_verdict(const CheckSubject& subject);
[[nodiscard]] Verdict cufile_verdict(const CheckSubject& subject);

// What conditions fail, then what cufile.json says, then the rules.
[[nodiscard]] std::vector<Finding> find_all(const CheckSubject& subject);

}  // namespace waybill
