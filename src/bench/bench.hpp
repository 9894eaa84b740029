// Bench: how fast each path of this machine is, each beside the most that the parts of the machine do, from one run.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "waybill/receipt.hpp"
#include "waybill/settings.hpp"

namespace waybill {

// The most that a part of the machine was seen to do in this run.
struct Ceiling {
    std::string id;         // memory, drive, pinned-copy
    double gb_per_s = 0.0;  // 0: not measured
    std::string how;        // how it was measured, or why it was not
};

struct BenchQuestion {
    std::string file;
    std::uint64_t size_bytes = 0;  // from the file's start on; at most what there is
    int device = -1;               // CUDA's ordinal, -1 for host memory alone
    std::vector<std::string> paths;             // of kBenchPaths
    std::vector<std::uint64_t> request_bytes;   // each at least 1
    std::vector<std::uint64_t> threads;         // empty: as Waybill chooses
    bool hot = true;
    bool cold = true;
    std::uint64_t time_ns = 0;  // spent on each row, at least one request
    SettingValues settings;
};

inline constexpr const char* kBenchPaths[] = {"host", "staged", "cufile"};

// Requests of one size by one path, one after the other, at places all over the file.
struct BenchRow {
    std::string path;                  // that was asked for
    bool hot = true;                   // the file was in the page cache before; cold: dropped from it
    std::uint64_t request_bytes = 0;
    std::optional<std::uint64_t> threads_asked;
    std::string why_not;               // why there is no figure; what follows is then empty
    Path took = Path::unknown;         // what the receipts say, `mixed` when they differ
    std::uint64_t threads = 0;         // most that moved bytes of one request
    std::uint64_t requests = 0;
    double gb_per_s = 0.0;             // all bytes over the time of all requests
    std::uint64_t least_ns = 0;        // of one request
    std::uint64_t median_ns = 0;
    std::uint64_t most_ns = 0;
    double cpu_seconds_per_gib = 0.0;  // of the whole process
    Source source;                     // where the bytes came from, by the receipts
    std::string ceiling;               // the one that bounds this row; empty: none was measured
    double share = 0.0;                // of it
    std::optional<double> against;     // times the figure of the same row in an earlier report
};

struct BenchReport {
    std::string file;
    std::uint64_t size_bytes = 0;
    std::string gpu;  // its name; empty: none
    std::uint64_t cores = 0;
    std::vector<Ceiling> ceilings;
    std::vector<BenchRow> rows;
    std::vector<std::string> notes;
};

// Measures the ceilings, then every row. `step` hears what is measured next. Throws Error as File::open.
[[nodiscard]] BenchReport measure_bench(const BenchQuestion& question, const std::function<void(const std::string&)>& step);

}  // namespace waybill
