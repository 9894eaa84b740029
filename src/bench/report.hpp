// A bench's report for people: what could be had at most, then a row for each measurement. Pure.
#pragma once

#include <string>

#include "bench/bench.hpp"

namespace waybill {

[[nodiscard]] std::string to_text(const BenchReport& report);

// "page cache", "drive", "both", or "not known": where a row's bytes came from.
[[nodiscard]] std::string source_text(const BenchRow& row);

}  // namespace waybill
