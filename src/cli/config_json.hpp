// The JSON that `config` prints.
#pragma once

#include <string>
#include <vector>

#include "waybill/settings.hpp"

namespace waybill {

// schema "waybill.config/1"; docs/schema/config.json
[[nodiscard]] std::string config_json(const std::vector<SettingRow>& rows, const std::vector<std::string>& unknown);

}  // namespace waybill
