// The one table of settings: a row each, and everything else (environment, file, command line, documentation, receipts)
// follows from it. To add a setting, see docs/add-a-setting.md.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "waybill/settings.hpp"

namespace waybill {

struct SettingEntry {
    std::string_view name;
    std::string_view variable;                      // WAYBILL_...
    std::vector<std::string_view> kvikio_variables;  // aliases; several must agree
    std::string_view accepted;                      // for messages and documentation
    std::string_view default_text;
    std::string_view meaning;                       // one sentence
    std::string_view source;                        // of the default
    // Puts the value of `text` into its field. Throws Error invalid_argument.
    void (*assign)(Settings& settings, std::string_view text, Origin origin, const std::string& where);
    std::string (*value_text)(const Settings& settings);
    Origin (*origin)(const Settings& settings);
    std::string (*where)(const Settings& settings);
};

[[nodiscard]] const std::vector<SettingEntry>& setting_table();

// Null when no setting has this name.
[[nodiscard]] const SettingEntry* find_setting(std::string_view name);

}  // namespace waybill
