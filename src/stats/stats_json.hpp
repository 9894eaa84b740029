// Statistics as JSON, schema "waybill.stats/1" (docs/schema/stats.json). Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "stats/reader.hpp"

namespace waybill {

// `refused`: processes that could not be looked into; `problems`: of those whose statistics cannot be read.
[[nodiscard]] std::string stats_json(std::span<const ProcessStats> processes, std::uint64_t refused,
                                     const std::vector<std::string>& problems, int indent);

}  // namespace waybill
