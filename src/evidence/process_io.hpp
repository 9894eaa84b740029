// /proc/self/io: bytes that this process moved by read and write calls, and bytes that storage moved for it (proc(5)).
#pragma once

#include <optional>
#include <string_view>

#include "waybill/receipt.hpp"

namespace waybill {

struct ProcessIoCounts {
    ProcessIoCounters reads;
    ProcessIoCounters writes;
};

// Absent where the kernel does not count (CONFIG_TASK_IO_ACCOUNTING). Thread-safe.
[[nodiscard]] std::optional<ProcessIoCounts> read_process_io();
[[nodiscard]] ProcessIoCounts parse_process_io(std::string_view text);

}  // namespace waybill
