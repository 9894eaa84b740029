// What differs between two reports of check.
#pragma once

#include <string>
#include <vector>

#include "waybill/check.hpp"

namespace waybill {

struct Change {
    std::string where;   // facts.machine.kernel.value
    std::string before;  // as JSON text; empty where it was not there
    std::string after;
};

// Verdicts, findings and facts; what changes all the time (free memory) and what only saving changes (the root, identifiers) is
// left out.
[[nodiscard]] std::vector<Change> changes_between(const CheckReport& before, const CheckReport& after);
[[nodiscard]] std::string changes_json(const std::vector<Change>& changes);

}  // namespace waybill
