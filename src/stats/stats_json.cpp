#include "stats/stats_json.hpp"

#include <nlohmann/json.hpp>

#include "stats/contradictions.hpp"

namespace waybill {
namespace {

using Json = nlohmann::ordered_json;

// Only buckets that hold something; `le_ns` is the largest value that belongs to each.
Json buckets_json(const Latencies& latencies) {
    Json json = Json::array();
    for (std::size_t k = 0; k < latencies.buckets.size(); ++k) {
        if (latencies.buckets[k] != 0) {
            json.push_back({{"le_ns", k + 1 == latencies.buckets.size() ? latencies.max_ns : histogram_end_ns(k)},
                            {"count", latencies.buckets[k]}});
        }
    }
    return json;
}

Json path_json(const PathStats& path) {
    Json json;
    json["direction"] = to_text(path.direction);
    json["path"] = to_text(path.path);
    json["requests"] = path.requests;
    json["errors"] = path.errors;
    json["tasks"] = path.tasks;
    json["asked_bytes"] = path.asked_bytes;
    json["moved_bytes"] = path.moved_bytes;
    json["judgements"] = {{"proved", path.proved}, {"contradicted", path.contradicted}};
    json["source"] = {{"page_cache_bytes", path.source.page_cache_bytes},
                      {"device_bytes", path.source.device_bytes},
                      {"unknown_bytes", path.source.unknown_bytes}};
    json["bytes_per_s"] = {{"now", nullptr}, {"life", path.life_bytes_per_s}};
    json["requests_per_s"] = {{"now", nullptr}};
    if (path.now_bytes_per_s) {
        json["bytes_per_s"]["now"] = *path.now_bytes_per_s;
        json["requests_per_s"]["now"] = path.now_requests_per_s.value_or(0);
    }
    const Latencies& latencies = path.latencies;
    json["latency_ns"] = {{"count", latencies.count}, {"sum", latencies.sum_ns},   {"max", latencies.max_ns},
                          {"p50", latencies.p50_ns},  {"p90", latencies.p90_ns},   {"p99", latencies.p99_ns},
                          {"p999", latencies.p999_ns}, {"buckets", buckets_json(latencies)}};
    json["settled"] = path.settled;
    return json;
}

Json paths_json(const ProcessStats& stats, int device) {
    Json json = Json::array();
    for (const PathStats& path : stats.paths) {
        if (path.device == device) {
            json.push_back(path_json(path));
        }
    }
    return json;
}

Json cufile_json(const CufileStats& cufile) {
    const CufileCounters& counters = cufile.counters;
    return {{"n", counters.n},
            {"nvfs", counters.nvfs},
            {"p2pdma", counters.p2pdma},
            {"posix", counters.posix},
            {"unaligned", counters.unaligned},
            {"errors", counters.errors},
            {"bytes", counters.bytes},
            {"our_bytes",
             {{"nvidia-fs", cufile.our_nvfs_bytes},
              {"p2pdma", cufile.our_p2pdma_bytes},
              {"cufile-posix", cufile.our_posix_bytes},
              {"other", cufile.our_other_bytes}}}};
}

Json gpu_json(const ProcessStats& stats, const GpuStats& gpu) {
    Json json;
    json["device"] = gpu.device;
    json["name"] = gpu.name;
    json["uuid"] = gpu.uuid;
    json["lines"] = {familiar_line(stats, gpu, Direction::read), familiar_line(stats, gpu, Direction::write)};
    json["cufile"] = nullptr;
    if (gpu.looked) {
        json["cufile"] = {{"read", cufile_json(gpu.cufile[0])}, {"write", cufile_json(gpu.cufile[1])}};
    }
    json["paths"] = paths_json(stats, gpu.device);
    return json;
}

Json process_json(const ProcessStats& stats) {
    Json json;
    json["pid"] = stats.pid;
    json["command"] = stats.command;
    json["waybill"] = stats.library;
    json["started_unix_ns"] = stats.start_unix_ns;
    json["age_ns"] = stats.taken_ns > stats.start_ns ? stats.taken_ns - stats.start_ns : 0;
    json["contradictions"] = contradictions(stats);
    json["refused"] = {{"read", stats.refused[0]}, {"write", stats.refused[1]}};
    json["uncounted"] = stats.uncounted;
    json["gpus"] = Json::array();
    for (const GpuStats& gpu : stats.gpus) {
        json["gpus"].push_back(gpu_json(stats, gpu));
    }
    json["host"] = {{"paths", paths_json(stats, -1)}};
    return json;
}

}  // namespace

std::string stats_json(std::span<const ProcessStats> processes, std::uint64_t refused, const std::vector<std::string>& problems,
                       int indent) {
    Json json;
    json["schema"] = "waybill.stats/1";
    json["processes"] = Json::array();
    for (const ProcessStats& stats : processes) {
        json["processes"].push_back(process_json(stats));
    }
    json["other_processes"] = refused;
    json["problems"] = problems;
    return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace waybill
