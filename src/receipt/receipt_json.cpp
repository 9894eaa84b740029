#include <array>

#include <nlohmann/json.hpp>

#include "waybill/receipt.hpp"

namespace waybill {
namespace {

using Json = nlohmann::ordered_json;

std::string text(std::string_view view) { return std::string(view); }

Json shares(const Shares& all) {
    return {{"count", all.count}, {"size_bytes", all.size_bytes}, {"last_bytes", all.last_bytes}};
}

Json pieces(const Receipt& receipt) {
    if (!receipt.pieces) {
        return nullptr;
    }
    Json json = shares(*receipt.pieces);
    json["total"] = receipt.pieces_total.value_or(0);
    return json;
}

Json destination(const Destination& destination) {
    Json json{{"kind", destination.device >= 0 ? "gpu" : "host"}, {"memory", text(to_text(destination.memory))}};
    json["device"] = destination.device >= 0 ? Json(destination.device) : Json(nullptr);
    json["name"] = destination.name;
    json["registered"] = destination.registered;
    return json;
}

Json paths(const Receipt& receipt) {
    Json all = Json::array();
    for (const PathShare& share : receipt.paths) {
        all.push_back({{"path", text(to_text(share.path))},
                       {"bytes", share.bytes ? Json(*share.bytes) : Json(nullptr)},
                       {"count", share.count}});
    }
    return all;
}

Json reasons(const Route& route) {
    Json all = Json::array();
    for (const Reason& reason : route.reasons) {
        all.push_back({{"id", reason.id}, {"text", reason.text}});
    }
    return all;
}

// Those that decide what a request does; others only where somebody set them.
Json settings(const Settings& settings) {
    constexpr std::array kAlways{"compat_mode", "gds_threshold", "task_size", "num_threads",
                                 "bounce_buffer_size", "page_cache", "evidence"};
    Json all = Json::array();
    for (const SettingRow& row : setting_rows(settings)) {
        const bool always = std::find(kAlways.begin(), kAlways.end(), row.name) != kAlways.end();
        if (always || row.from != to_text(Origin::built_in)) {
            all.push_back({{"name", row.name}, {"value", row.value}, {"from", row.from}});
        }
    }
    return all;
}

Json cufile(const std::optional<CufileCounters>& counts) {
    if (!counts) {
        return nullptr;
    }
    return {{"n", counts->n},           {"nvfs", counts->nvfs},           {"p2pdma", counts->p2pdma}, {"posix", counts->posix},
            {"unaligned", counts->unaligned}, {"errors", counts->errors}, {"bytes", counts->bytes}};
}

std::string_view state_text(Residency::State state) {
    switch (state) {
        case Residency::State::known: return "known";
        case Residency::State::partial: return "partial";
        case Residency::State::unknown: return "unknown";
    }
    return "";
}

Json evidence(const Evidence& evidence) {
    Json json;
    json["cufile"] = cufile(evidence.cufile);
    json["nvidia_fs"] = evidence.nvidia_fs ? Json{{"operations", evidence.nvidia_fs->operations},
                                                  {"bytes", evidence.nvidia_fs->bytes},
                                                  {"live", evidence.nvidia_fs->live}}
                                           : Json(nullptr);
    json["process_io"] = evidence.process_io ? Json{{"call_bytes", evidence.process_io->call_bytes},
                                                    {"storage_bytes", evidence.process_io->storage_bytes}}
                                             : Json(nullptr);
    json["residency"] = evidence.residency ? Json{{"state", text(state_text(evidence.residency->state))},
                                                  {"cached_bytes", evidence.residency->cached_bytes},
                                                  {"range_bytes", evidence.residency->range_bytes},
                                                  {"dirty_bytes", evidence.residency->dirty_bytes},
                                                  {"source", evidence.residency->source}}
                                           : Json(nullptr);
    json["company"] = evidence.company;
    json["not_looked_at"] = evidence.not_looked_at;
    return json;
}

Json ranges(const Receipt& receipt) {
    Json all = Json::array();
    if (receipt.good.empty() && receipt.moved_bytes != 0) {
        all.push_back({{"offset", 0}, {"bytes", receipt.moved_bytes}});
    }
    for (const ByteRange& range : receipt.good) {
        all.push_back({{"offset", range.offset}, {"bytes", range.bytes}});
    }
    return all;
}

Json results(const Receipt& receipt) {
    if (receipt.results.empty()) {
        return nullptr;
    }
    Json all = Json::array();
    for (const RequestResult& result : receipt.results) {
        all.push_back({{"file", *result.file},
                       {"offset", result.file_offset},
                       {"asked_bytes", result.asked_bytes},
                       {"moved_bytes", result.moved_bytes},
                       {"short", result.is_short}});
    }
    return all;
}

Json receipt_json(const Receipt& receipt) {
    const Times& times = receipt.times;
    Json json;
    json["schema"] = "waybill.receipt/1";
    json["file"] = *receipt.file;
    json["op"] = text(to_text(receipt.op));
    json["offset"] = receipt.file_offset;
    json["asked_bytes"] = receipt.asked_bytes;
    json["moved_bytes"] = receipt.moved_bytes;
    json["short"] = receipt.is_short;
    json["short_reason"] = receipt.is_short ? Json(receipt.short_reason) : Json(nullptr);
    json["good"] = ranges(receipt);
    json["destination"] = destination(receipt.destination);
    json["engine"] = text(to_text(receipt.engine));
    json["path"] = text(to_text(receipt.path));
    json["paths"] = paths(receipt);
    json["source"] = {{"page_cache_bytes", receipt.source.page_cache_bytes},
                      {"device_bytes", receipt.source.device_bytes},
                      {"unknown_bytes", receipt.source.unknown_bytes},
                      {"estimated", receipt.source.estimated}};
    json["reasons"] = reasons(*receipt.route);
    json["tasks"] = shares(receipt.tasks);
    json["pieces"] = pieces(receipt);
    json["threads"] = receipt.threads;
    json["direct_descriptor"] = receipt.direct_descriptor;
    json["time_ns"] = {{"total", times.total_ns}, {"open", times.open_ns}};
    json["thread_ns"] = {{"read", times.thread_read_ns}, {"copy", times.thread_copy_ns}, {"wait", times.thread_wait_ns}};
    json["setup_ns"] = {{"cuda_init", times.cuda_init_ns},
                        {"context", times.context_ns},
                        {"pin", times.pin_ns},
                        {"cufile_open", times.cufile_open_ns}};
    json["gb_per_s"] = gb_per_s(receipt);
    json["settings"] = settings(*receipt.settings);
    json["evidence"] = evidence(receipt.evidence);
    json["judgement"] = text(to_text(receipt.judgement));
    json["judgement_text"] = receipt.judgement_text;
    json["notes"] = receipt.notes;
    json["results"] = results(receipt);
    json["sha256"] = receipt.sha256 ? Json(*receipt.sha256) : Json(nullptr);
    return json;
}

// A file's name need not be UTF-8; JSON must be.
std::string dump(const Json& json, int indent) {
    return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string to_json(const Receipt& receipt, int indent) {
    return dump(receipt_json(receipt), indent);
}

std::string to_json(const Error& error, int indent) {
    Json json;
    json["schema"] = "waybill.error/1";
    json["code"] = text(to_text(error.code()));
    json["text"] = error.what();
    json["native"] = error.native().layer == NativeCode::Layer::none
                         ? Json(nullptr)
                         : Json{{"layer", text(to_text(error.native().layer))},
                                {"value", error.native().value},
                                {"name", error.native().name}};
    json["receipt"] = error.receipt() ? receipt_json(*error.receipt()) : Json(nullptr);
    return dump(json, indent);
}

}  // namespace waybill
