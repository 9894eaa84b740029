// The System V shared memory segment in which libcufile keeps its statistics.
#pragma once

#include <string>

namespace waybill {

// Makes room for libcufile's statistics of this process. libcufile keeps them in a System V segment whose key is the
// number of the process (seen in 1.17 and 1.20 with ipcs), and a process that is killed leaves its segment behind: a later
// process that gets the same number then counts nothing, and cuFile only says so in its log ("failed to open shared memory
// segment for stats", error 17). A segment under our own number to which nobody is attached is such a leftover and is removed.
// To be called before statistics start. Returns why there is no room, naming the segment and what to do; empty when there is.
// Thread-safe.
[[nodiscard]] std::string clear_statistics_segment();

}  // namespace waybill
