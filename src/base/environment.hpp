// The process's environment as a value, so that pure code can be handed one.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace waybill {

using Environment = std::map<std::string, std::string, std::less<>>;

[[nodiscard]] Environment process_environment();
// Null when the variable is not set.
[[nodiscard]] const std::string* find_variable(const Environment& environment, std::string_view name);

}  // namespace waybill
