#include "stats/text.hpp"

#include <iterator>

#include <fmt/format.h>

#include "base/text.hpp"
#include "stats/contradictions.hpp"

namespace waybill {
namespace {

using Lines = std::back_insert_iterator<std::string>;

std::string rate_text(double bytes_per_s) { return fmt::format("{:.2f} GB/s", bytes_per_s / 1e9); }

void add_path(Lines out, const PathStats& path) {
    fmt::format_to(out, "  {:<5} {:<12} {} requests, {} tasks, {}, {} errors\n", to_text(path.direction), to_text(path.path), path.requests,
                   path.tasks, size_text(path.moved_bytes), path.errors);
    if (path.now_bytes_per_s) {
        fmt::format_to(out, "        now          {}, {:.1f} requests/s; over the life {}\n", rate_text(*path.now_bytes_per_s),
                       *path.now_requests_per_s, rate_text(path.life_bytes_per_s));
    } else {
        fmt::format_to(out, "        throughput   over the life {}\n", rate_text(path.life_bytes_per_s));
    }
    const Latencies& latencies = path.latencies;
    if (latencies.count != 0) {
        fmt::format_to(out, "        latency      p50 {}, p90 {}, p99 {}, p99.9 {}, max {}\n", duration_text(latencies.p50_ns),
                       duration_text(latencies.p90_ns), duration_text(latencies.p99_ns), duration_text(latencies.p999_ns),
                       duration_text(latencies.max_ns));
    }
    if (path.direction == Direction::read) {
        fmt::format_to(out, "        source       page cache {}, device {}{}\n", size_text(path.source.page_cache_bytes),
                       size_text(path.source.device_bytes),
                       path.source.unknown_bytes == 0 ? "" : ", not known " + size_text(path.source.unknown_bytes));
    }
    if (!path.settled) {
        fmt::format_to(out, "        note         it was changing all the time: these values may not belong together\n");
    }
}

void add_paths(Lines out, const ProcessStats& stats, int device) {
    for (const PathStats& path : stats.paths) {
        if (path.device == device) {
            add_path(out, path);
        }
    }
}

void add_gpu(Lines out, const ProcessStats& stats, const GpuStats& gpu) {
    fmt::format_to(out, "gpu:{} {}\n", gpu.device, gpu.name);
    add_paths(out, stats, gpu.device);
    for (const Direction direction : {Direction::read, Direction::write}) {
        const CufileCounters& counters = gpu.cufile[static_cast<std::size_t>(direction)].counters;
        fmt::format_to(out, "  {}", familiar_line(stats, gpu, direction));
        if (gpu.looked) {
            fmt::format_to(out, " (cuFile: {}, {} unaligned, {} errors)\n", size_text(counters.bytes), counters.unaligned, counters.errors);
        } else {
            fmt::format_to(out, " (cuFile's counters were not read)\n");
        }
    }
}

}  // namespace

std::string to_text(const ProcessStats& stats) {
    std::string text;
    const Lines out(text);
    for (const std::string& sentence : contradictions(stats)) {
        fmt::format_to(out, "CONTRADICTED: {}\n", sentence);
    }
    const std::uint64_t age_ns = stats.taken_ns > stats.start_ns ? stats.taken_ns - stats.start_ns : 0;
    fmt::format_to(out, "process {} ({}), {} since its first request, Waybill {}\n", stats.pid, stats.command, duration_text(age_ns),
                   stats.library);
    for (const GpuStats& gpu : stats.gpus) {
        add_gpu(out, stats, gpu);
    }
    for (const PathStats& path : stats.paths) {
        if (path.device < 0) {
            fmt::format_to(out, "host\n");
            add_paths(out, stats, -1);
            break;
        }
    }
    if (stats.refused[0] + stats.refused[1] != 0) {
        fmt::format_to(out, "  failed before a byte moved: {} reads, {} writes\n", stats.refused[0], stats.refused[1]);
    }
    if (stats.uncounted != 0) {
        fmt::format_to(out, "  not counted: {} requests on GPUs past the sixteenth\n", stats.uncounted);
    }
    return text;
}

}  // namespace waybill
