// cufile.json and the CUFILE_ variables of a machine, as the facts that routes are made of.
#pragma once

#include <optional>
#include <string>

#include "base/environment.hpp"
#include "base/root.hpp"
#include "waybill/facts.hpp"
#include "waybill/settings.hpp"

namespace waybill {

// The files: /etc/cufile.json, and over it what the setting cufile_json or else CUFILE_ENV_PATH_JSON names (seen with 1.15 and 1.20:
// cuFile reads both, key by key). The values hold for `version` (1000*major+10*minor), or for the newest where it is not known.
[[nodiscard]] CufileConfig read_cufile_config(const MachineRoot& root, const Settings& settings, const Environment& environment,
                                              std::optional<int> version);

// Of one file's text, without variables. Never throws: a file that is not understood has valid = false.
[[nodiscard]] CufileConfig parse_cufile_config(const std::string& text, const std::string& path, std::optional<int> version = std::nullopt);

// What the files of `config` come to for another version or other variables.
void interpret(CufileConfig& config, const Environment& environment, std::optional<int> version);

}  // namespace waybill
