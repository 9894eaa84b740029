// Segment: this process's own statistics in shared memory, made at its first request.
//
// A memfd that stays open, with close-on-exec: a reader finds it through /proc/PID/fd, which the kernel opens to the owner and
// root alone, and it is gone when the process is, by whatever signal. Nothing in a file system has to be tidied up.
#pragma once

#include "stats/layout.hpp"

namespace waybill {

// Null where none could be made (no memfd, no descriptor, too little room); tried once a process. A forked child gets its own
// and lets the parent's go. Thread-safe.
[[nodiscard]] StatsSegment* own_segment() noexcept;

}  // namespace waybill
