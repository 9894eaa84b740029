// The process's environment as a value, so that pure code can be handed one.
//
// All of Waybill reads and changes the environment through here, under one mutex. The program's own setenv calls know nothing
// of it: they remain the program's risk, as for every library.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace waybill {

using Environment = std::map<std::string, std::string, std::less<>>;

[[nodiscard]] Environment process_environment();
// The entries (`NAME=value`) that begin with one of `starts`, in the environment's order, each followed by a NUL.
[[nodiscard]] std::string environment_entries(std::initializer_list<std::string_view> starts);
// Null when the variable is not set.
[[nodiscard]] const std::string* find_variable(const Environment& environment, std::string_view name);
// Gives a variable of this process another value, or none, unless it has that already. Returns what it was.
std::optional<std::string> exchange_process_variable(const std::string& name, const std::optional<std::string>& value);

}  // namespace waybill
