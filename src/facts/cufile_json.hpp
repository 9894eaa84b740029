// The cufile.json that is in force, with the CUFILE_ variables that override it in this version of the library.
#pragma once

#include <optional>
#include <string>

#include "base/environment.hpp"
#include "base/root.hpp"
#include "waybill/facts.hpp"
#include "waybill/settings.hpp"

namespace waybill {

// The file: the setting cufile_json, else CUFILE_ENV_PATH_JSON, else /etc/cufile.json; none: the library's built-in values,
// which are not those of the shipped file. `version` is 1000*major + 10*minor; unknown takes what most versions do.
[[nodiscard]] CufileConfig read_cufile_config(const MachineRoot& root, const Settings& settings, const Environment& environment,
                                              std::optional<int> version);

// Pure; never throws: text that is not understood gives valid=false with line and column.
[[nodiscard]] CufileConfig parse_cufile_config(const std::string& text, const std::string& path);

}  // namespace waybill
