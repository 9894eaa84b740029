// nvidia-fs's counters in /proc/driver/nvidia-fs/stats: of the whole machine, in MiB, and off unless rw_stats_enabled.
#pragma once

#include <optional>
#include <string_view>

#include "base/root.hpp"
#include "waybill/receipt.hpp"

namespace waybill {

struct NvidiaFsCounts {
    NvidiaFsCounters reads;
    NvidiaFsCounters writes;
};

// Absent when the module is not there or its file cannot be read.
[[nodiscard]] std::optional<NvidiaFsCounts> read_nvidia_fs_stats(const MachineRoot& root);
// Pure: the text of the file. Lines that are not understood are passed over.
[[nodiscard]] NvidiaFsCounts parse_nvidia_fs_stats(std::string_view text);

}  // namespace waybill
