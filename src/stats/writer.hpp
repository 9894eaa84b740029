// Writer: what a request adds to the statistics of its process.
#pragma once

#include <cstdint>
#include <string>

#include "stats/layout.hpp"
#include "waybill/receipt.hpp"

namespace waybill {

// cuFile's counters since its driver was opened, as a request last read them.
struct StatsCufileTotals {
    CufileCounters reads;
    CufileCounters writes;
    std::uint64_t looked_ns = 0;  // monotonic
};

// Adds a request that has ended to `segment`. Any thread; a few dozen nanoseconds. `uuid`: 16 raw bytes of the GPU.
// `totals`: null where cuFile's counters were not looked at.
void add_request(StatsSegment& segment, const Receipt& receipt, bool failed, const std::string& uuid,
                 const StatsCufileTotals* totals) noexcept;

// The same for this process's own segment, where it has one (stats/segment.hpp).
void count_request(const Receipt& receipt, bool failed, const std::string& uuid,
                   const StatsCufileTotals* totals) noexcept;
// A request that failed before a byte moved.
void count_refused(Direction direction) noexcept;

}  // namespace waybill
