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
// Sets a variable of this process, unless it has the value already.
void set_process_variable(const std::string& name, const std::string& value);

}  // namespace waybill
