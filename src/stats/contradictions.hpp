// Contradictions: where cuFile's own counters and Waybill's disagree. Pure.
#pragma once

#include <string>
#include <vector>

#include "stats/reader.hpp"

namespace waybill {

// A sentence for each; empty when nothing disagrees. Silent counters (cuFile has counted nothing at all) never contradict.
[[nodiscard]] std::vector<std::string> contradictions(const ProcessStats& stats);

// The line that people know, of one place and direction: cuFile's counters beside the tasks that Waybill staged, for GPUs
// `n` is the sum. "Read: n=256 nvfs=256 p2pdma=0 posix=0 staged=0"
[[nodiscard]] std::string familiar_line(const ProcessStats& stats, const GpuStats& gpu, Direction direction);

}  // namespace waybill
