// The JSON that `plan` and `config` print.
#pragma once

#include <string>
#include <vector>

#include "waybill/file.hpp"

namespace waybill {

// schema "waybill.plan/1"; docs/schema/plan.json
[[nodiscard]] std::string plan_json(const Explanation& explanation, int device, std::uint64_t offset);
// schema "waybill.config/1"; docs/schema/config.json
[[nodiscard]] std::string config_json(const std::vector<SettingRow>& rows, const std::vector<std::string>& unknown);

}  // namespace waybill
