// Statistics as OpenMetrics text (version 1.0.0), which Prometheus scrapes. Pure.
#pragma once

#include <span>
#include <string>

#include "stats/reader.hpp"

namespace waybill {

// All families, each once, with a sample for every process; ends with `# EOF`.
[[nodiscard]] std::string openmetrics(std::span<const ProcessStats> processes);

// A label's value: `\`, `"` and the end of a line escaped, and what is no UTF-8 replaced by U+FFFD.
[[nodiscard]] std::string openmetrics_label(std::string_view value);

}  // namespace waybill
