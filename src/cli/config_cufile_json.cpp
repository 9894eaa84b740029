#include <nlohmann/json.hpp>

#include "cli/config_cufile.hpp"

namespace waybill {

using Json = nlohmann::ordered_json;

std::string cufile_json(const CufileSummary& summary) {
    Json json;
    json["schema"] = "waybill.cufile/1";
    json["library"] = summary.library.known() ? Json(summary.library.value) : Json(nullptr);
    json["version"] = summary.version.known() ? Json(cufile_version_text(summary.version.value)) : Json(nullptr);
    json["files"] = summary.config.files;
    json["missing_file"] = summary.config.missing_file.empty() ? Json(nullptr) : Json(summary.config.missing_file);
    json["invalid"] = summary.config.problem.empty() ? Json(nullptr) : Json(summary.config.problem);
    json["values"] = Json::array();
    for (const CufileValue& value : summary.reading.values) {
        // A variable's text need not be JSON.
        const Json parsed = Json::parse(value.value, nullptr, false);
        json["values"].push_back({{"key", value.key->path},
                                  {"value", parsed.is_discarded() ? Json(value.value) : parsed},
                                  {"origin", to_text(value.origin)},
                                  {"where", value.where},
                                  {"built_in", Json::parse(built_in_of(*value.key, summary.version.known() ? summary.version.value : kNewestCufile))},
                                  {"accepted", accepted_text(*value.key, summary.version.known() ? summary.version.value : kNewestCufile)},
                                  {"meaning", value.key->meaning}});
    }
    json["problems"] = Json::array();
    for (const CufileProblem& problem : summary.reading.problems) {
        json["problems"].push_back({{"kind", to_text(problem.kind)}, {"text", problem.text}});
    }
    return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace waybill
