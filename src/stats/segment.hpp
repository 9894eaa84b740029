// Segment: this process's own statistics in shared memory, made at its first request.
//
// A memfd that stays open, with close-on-exec: a reader finds it through /proc/PID/fd, which the kernel opens to the owner and
// root alone, and it is gone when the process is, by whatever signal. Nothing in a file system has to be tidied up.
#pragma once

#include "stats/layout.hpp"

namespace waybill {

// This process's segment once it is made, for own_segment() alone.
inline std::atomic<StatsSegment*> made_segment{nullptr};
[[nodiscard]] StatsSegment* make_own_segment() noexcept;

// Null where none could be made (no memfd, no descriptor, too little room); tried once a process. A forked child gets its own
// and lets the parent's go. Thread-safe. In the header, because after a read's system call each further line of code has to
// be fetched again: that alone was measured to cost as much as the counting.
[[nodiscard]] inline StatsSegment* own_segment() noexcept {
    StatsSegment* segment = made_segment.load(std::memory_order_acquire);
    return segment != nullptr ? segment : make_own_segment();
}

}  // namespace waybill
