#include "cli/config_json.hpp"

#include <nlohmann/json.hpp>

namespace waybill {

using Json = nlohmann::ordered_json;

std::string config_json(const std::vector<SettingRow>& rows, const std::vector<std::string>& unknown) {
    Json json;
    json["schema"] = "waybill.config/1";
    json["settings"] = Json::array();
    for (const SettingRow& row : rows) {
        json["settings"].push_back({{"name", row.name}, {"value", row.value}, {"from", row.from}});
    }
    json["unknown_variables"] = unknown;
    return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace waybill
