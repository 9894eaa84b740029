// What to do about each condition of routing that fails, and what people try in vain. One table; docs/findings.md has the
// same ids with their sources.
#pragma once

#include <string_view>

namespace waybill {

struct Advice {
    std::string_view id;
    std::string_view source;  // where the condition is seen, where its answer does not tell
    std::string_view fix;
    std::string_view not_needed;
};

// Every id of route/conditions.cpp has a row.
[[nodiscard]] const Advice& advice_for(std::string_view id) noexcept;

}  // namespace waybill
