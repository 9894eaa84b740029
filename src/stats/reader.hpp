// Reader: what a process's segment says, as plain values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stats/layout.hpp"
#include "waybill/receipt.hpp"

namespace waybill {

struct Latencies {
    std::uint64_t count = 0;
    std::uint64_t sum_ns = 0;
    std::uint64_t max_ns = 0;
    std::uint64_t p50_ns = 0;
    std::uint64_t p90_ns = 0;
    std::uint64_t p99_ns = 0;
    std::uint64_t p999_ns = 0;
    std::vector<std::uint64_t> buckets;  // kHistogramBuckets counts
};

// One (GPU or host, path, direction).
struct PathStats {
    int device = -1;
    Path path = Path::unknown;
    Direction direction = Direction::read;
    std::uint64_t requests = 0;
    std::uint64_t errors = 0;
    std::uint64_t proved = 0;
    std::uint64_t contradicted = 0;
    std::uint64_t tasks = 0;
    std::uint64_t asked_bytes = 0;
    std::uint64_t moved_bytes = 0;
    Source source;
    Latencies latencies;
    double life_bytes_per_s = 0;                // over the time since the process's first request
    std::optional<double> now_bytes_per_s;      // between two looks
    std::optional<double> now_requests_per_s;
    bool settled = true;                        // false: it was changing all the time, so its values may not belong together
};

// cuFile's own counters of one direction, and the bytes that Waybill had moved through cuFile at that look, by path.
struct CufileStats {
    CufileCounters counters;
    std::uint64_t our_nvfs_bytes = 0;
    std::uint64_t our_p2pdma_bytes = 0;
    std::uint64_t our_posix_bytes = 0;
    std::uint64_t our_other_bytes = 0;
};

struct GpuStats {
    int device = 0;
    std::string name;
    std::string uuid;                   // GPU-0123...; empty when it is not known
    bool looked = false;                // at cuFile's counters, ever
    std::array<CufileStats, 2> cufile;  // by direction
};

struct ProcessStats {
    std::uint64_t pid = 0;      // as the reader sees it
    std::uint64_t own_pid = 0;  // in the process's own namespace
    std::string command;
    std::string library;        // Waybill's version there
    std::uint64_t start_unix_ns = 0;
    std::uint64_t start_ns = 0;
    std::uint64_t taken_ns = 0;
    std::uint64_t uncounted = 0;
    std::array<std::uint64_t, 2> refused{};
    std::vector<GpuStats> gpus;
    std::vector<PathStats> paths;
};

// Reads a segment, which may be anything: another process made it. `bytes` are aligned to 64-bit words and don't shrink.
// Throws Error io_error, saying what is wrong, when it is no segment of this version. `taken_ns`: the monotonic clock.
[[nodiscard]] ProcessStats read_stats(std::span<const std::byte> bytes, std::uint64_t taken_ns);

// Fills in the rates of `now` since an earlier look at the same segment.
void add_rates(ProcessStats& now, const ProcessStats& before);

// Printable text of bytes that another process wrote: control characters become `?`.
[[nodiscard]] std::string printable(std::string text);

}  // namespace waybill
