// cuFile's own level-3 counters of one GPU, read through its API and laid out by its version.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "gpu/cufile.hpp"
#include "waybill/receipt.hpp"

namespace waybill {

// The counters of both directions for the GPU with `uuid` (16 raw bytes); absent when statistics are off, the call fails,
// or the library's version is unknown. A GPU without a row has counted nothing: zeros.
struct CufileCounts {
    CufileCounters reads;
    CufileCounters writes;
};
[[nodiscard]] std::optional<CufileCounts> read_cufile_counters(const CufileDriver& driver, const std::string& uuid);

// Decodes what cuFileGetStatsL3 wrote. Pure, for tests: `version` is 1000*major + 10*minor.
[[nodiscard]] std::optional<CufileCounts> decode_cufile_counters(const std::vector<std::byte>& statistics, int version,
                                                                 const std::string& uuid);

}  // namespace waybill
