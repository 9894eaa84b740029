// The configuration file: a JSON object of setting names and values, comments allowed.
#pragma once

#include <string>

#include "base/environment.hpp"
#include "waybill/settings.hpp"

namespace waybill {

struct ConfigFile {
    std::string path;      // empty: there is none
    SettingValues values;
};

// WAYBILL_CONFIG, else $XDG_CONFIG_HOME/waybill/config.json, else ~/.config/waybill/config.json, else /etc/waybill.json.
// Throws Error bad_setting when WAYBILL_CONFIG names no readable file, or when the file's text is not understood (line told).
[[nodiscard]] ConfigFile read_config_file(const Environment& environment);

// Throws Error bad_setting. `path` is for messages.
[[nodiscard]] SettingValues parse_config(const std::string& text, const std::string& path);

}  // namespace waybill
