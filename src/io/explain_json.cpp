#include <nlohmann/json.hpp>

#include "plan/pieces.hpp"
#include "waybill/file.hpp"

namespace waybill {
namespace {

using Json = nlohmann::ordered_json;

Json reason_json(const Reason& reason) { return {{"id", reason.id}, {"text", reason.text}}; }

Json maybe_reason(const std::optional<Reason>& reason) { return reason ? reason_json(*reason) : Json(nullptr); }

Json shares_json(const Shares& all) {
    return {{"count", all.count}, {"size_bytes", all.size_bytes}, {"last_bytes", all.last_bytes}};
}

Json maybe_shares(const std::optional<Shares>& all) { return all ? shares_json(*all) : Json(nullptr); }

Json maybe_number(const std::optional<std::uint64_t>& number) { return number ? Json(*number) : Json(nullptr); }

// What of cuFile the pieces depend on; null for other engines.
Json cufile_json(const Explanation& explanation) {
    if (!explanation.plan.pieces_per_task) {
        return nullptr;
    }
    const std::optional<int> version = cufile_version(explanation.cufile, explanation.use);
    const Execution keys = execution_in_force(explanation.cufile, explanation.use);
    const std::string& file = explanation.cufile.config.file;
    const std::string& missing = explanation.cufile.config.missing_file;
    return {{"version", version ? Json(*version) : Json(nullptr)},
            {"json", file.empty() ? Json(nullptr) : Json(file)},
            {"missing_json", missing.empty() ? Json(nullptr) : Json(missing)},
            {"registered", explanation.use.registered},
            {"max_io_threads", keys.threads},
            {"max_request_parallelism", keys.parallelism},
            {"min_io_threshold_size_kb", keys.threshold_bytes / 1024},
            {"parallel_io", keys.parallel_io}};
}

Json alternatives_json(const std::vector<Alternative>& alternatives) {
    Json list = Json::array();
    for (const Alternative& other : alternatives) {
        list.push_back({{"setting", other.setting},
                        {"value", other.value},
                        {"tasks", shares_json(other.plan.tasks)},
                        {"pieces_per_task", maybe_shares(other.plan.pieces_per_task)},
                        {"pieces_total", maybe_number(other.plan.pieces_total)}});
    }
    return list;
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
    json["pieces_per_task"] = maybe_shares(plan.pieces_per_task);
    json["pieces_of_last_task"] = maybe_shares(plan.pieces_of_last_task);
    json["pieces_total"] = maybe_number(plan.pieces_total);
    json["device_reads"] = maybe_number(plan.device_reads);
    json["threads"] = explanation.threads;
    json["cufile"] = cufile_json(explanation);
    json["basis"] = plan.pieces_per_task ? Json(std::string(to_text(plan.basis))) : Json(nullptr);
    json["extrapolated"] = plan.extrapolated();
    json["slow_shapes"] = Json::array();
    for (const Reason& shape : explanation.slow_shapes) {
        json["slow_shapes"].push_back(reason_json(shape));
    }
    json["notes"] = explanation.notes;
    json["alternatives"] = alternatives_json(explanation.alternatives);
    return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace waybill
