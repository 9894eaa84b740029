// What this process may use: memory and cores, under the limits of its control groups.
#pragma once

#include <cstdint>

#include "base/root.hpp"

namespace waybill {

// MemAvailable, less where a cgroup's limit leaves less. 0 when it cannot be told.
[[nodiscard]] std::uint64_t free_memory_bytes(const MachineRoot& root);

// The cores of the affinity mask (live) under a cgroup's CPU quota; at least 1.
[[nodiscard]] std::uint32_t usable_cores(const MachineRoot& root);

}  // namespace waybill
