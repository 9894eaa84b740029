// A bench's report as JSON, schema "waybill.bench/1" (docs/schema/bench.json), and what an earlier one says. Pure.
#pragma once

#include <string>
#include <string_view>

#include "bench/bench.hpp"

namespace waybill {

[[nodiscard]] std::string bench_json(const BenchReport& report, int indent);

// Fills `against` of the rows that `earlier` (the text of such a report) has too: same path, cache, size and threads asked for.
// Returns how many. Throws Error invalid_argument where the text is no such report; `name` is said then.
std::uint64_t compare_with(BenchReport& report, std::string_view earlier, const std::string& name);

}  // namespace waybill
