#include <nlohmann/json.hpp>

#include "waybill/file.hpp"

namespace waybill {
namespace {

using Json = nlohmann::ordered_json;

Json reason_json(const Reason& reason) { return {{"id", reason.id}, {"text", reason.text}}; }

Json maybe_reason(const std::optional<Reason>& reason) { return reason ? reason_json(*reason) : Json(nullptr); }

Json shares_json(const Shares& all) {
    return {{"count", all.count}, {"size_bytes", all.size_bytes}, {"last_bytes", all.last_bytes}};
}

}  // namespace

std::string to_json(const Explanation& explanation, int indent) {
    const Plan& plan = explanation.plan;
    Json json;
    json["schema"] = "waybill.plan/1";
    json["file"] = explanation.file.path;
    json["device"] = explanation.device >= 0 ? Json(explanation.device) : Json(nullptr);
    json["offset"] = explanation.file_offset;
    json["size_bytes"] = plan.size_bytes;
    json["engine"] = std::string(to_text(explanation.route.engine));
    json["path"] = std::string(to_text(explanation.route.expected_path));
    json["page_cache"] = std::string(to_text(explanation.route.page_cache));
    json["reasons"] = Json::array();
    for (const Reason& reason : explanation.route.reasons) {
        json["reasons"].push_back(reason_json(reason));
    }
    json["refused"] = maybe_reason(explanation.route.refused);
    json["doubt"] = maybe_reason(explanation.route.doubt);
    json["tasks"] = shares_json(plan.tasks);
    json["pieces_per_task"] = plan.pieces_per_task ? shares_json(*plan.pieces_per_task) : Json(nullptr);
    json["pieces_total"] = plan.pieces_total ? Json(*plan.pieces_total) : Json(nullptr);
    json["device_reads"] = plan.device_reads ? Json(*plan.device_reads) : Json(nullptr);
    json["extrapolated"] = plan.extrapolated();
    return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace waybill
