#include "bench/bench_json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "bench/report.hpp"

namespace waybill {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSchema = "waybill.bench/1";

Json row_json(const BenchRow& row) {
    Json json{{"path", row.path},
              {"cache", row.hot ? "hot" : "cold"},
              {"request_bytes", row.request_bytes},
              {"threads_asked", row.threads_asked ? Json(*row.threads_asked) : Json(nullptr)},
              {"why_not", row.why_not.empty() ? Json(nullptr) : Json(row.why_not)}};
    if (!row.why_not.empty()) {
        return json;
    }
    json.update(Json{{"took", to_text(row.took)},
                     {"threads", row.threads},
                     {"requests", row.requests},
                     {"gb_per_s", row.gb_per_s},
                     {"request_ns", {{"least", row.least_ns}, {"median", row.median_ns}, {"most", row.most_ns}}},
                     {"cpu_seconds_per_gib", row.cpu_seconds_per_gib},
                     {"source",
                      {{"page_cache_bytes", row.source.page_cache_bytes},
                       {"device_bytes", row.source.device_bytes},
                       {"unknown_bytes", row.source.unknown_bytes},
                       {"estimated", row.source.estimated}}},
                     {"ceiling", row.ceiling.empty() ? Json(nullptr) : Json(row.ceiling)},
                     {"share", row.ceiling.empty() ? Json(nullptr) : Json(row.share)},
                     {"against", row.against ? Json(*row.against) : Json(nullptr)}});
    return json;
}

// What makes two rows the same measurement.
std::string key_of(const Json& row) {
    return fmt::format("{} {} {} {}", row.at("path").get<std::string>(), row.at("cache").get<std::string>(),
                       row.at("request_bytes").get<std::uint64_t>(), row.at("threads_asked").dump());
}

}  // namespace

std::string bench_json(const BenchReport& report, int indent) {
    Json ceilings = Json::array();
    for (const Ceiling& ceiling : report.ceilings) {
        ceilings.push_back({{"id", ceiling.id},
                            {"gb_per_s", ceiling.gb_per_s > 0.0 ? Json(ceiling.gb_per_s) : Json(nullptr)},
                            {"how", ceiling.how}});
    }
    Json rows = Json::array();
    for (const BenchRow& row : report.rows) {
        rows.push_back(row_json(row));
    }
    return Json{{"schema", kSchema},
                {"file", report.file},
                {"size_bytes", report.size_bytes},
                {"gpu", report.gpu.empty() ? Json(nullptr) : Json(report.gpu)},
                {"cores", report.cores},
                {"ceilings", ceilings},
                {"rows", rows},
                {"notes", report.notes}}
        .dump(indent, ' ', false, Json::error_handler_t::replace);
}

std::uint64_t compare_with(BenchReport& report, std::string_view earlier, const std::string& name) {
    std::uint64_t found = 0;
    try {
        const Json before = Json::parse(earlier);
        if (before.at("schema") != kSchema) {
            throw Error(ErrorCode::invalid_argument, fmt::format("'{}' is a {} and no {}", name, before.at("schema").dump(), kSchema));
        }
        for (BenchRow& row : report.rows) {
            const std::string key = key_of(row_json(row));
            for (const Json& other : before.at("rows")) {
                const double figure = other.value("gb_per_s", 0.0);
                if (row.why_not.empty() && figure > 0.0 && key_of(other) == key) {
                    row.against = row.gb_per_s / figure;
                    ++found;
                }
            }
        }
    } catch (const Json::exception& problem) {
        throw Error(ErrorCode::invalid_argument,
                    fmt::format("'{}' is no report of `waybill bench --json` ({})", name, problem.what()));
    }
    return found;
}

}  // namespace waybill
