// What this process may use: memory, cores, descriptors, under the limits of its control groups and its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/root.hpp"
#include "waybill/facts.hpp"

namespace waybill {

// MemAvailable, less where a cgroup's limit leaves less. 0 when it cannot be told.
[[nodiscard]] std::uint64_t free_memory_bytes(const MachineRoot& root);

// The least that the CPU quotas of a cgroup (version 2 or 1) and its parents leave, rounded up; absent where none sets one.
[[nodiscard]] std::optional<std::uint64_t> cores_under_quotas(const MachineRoot& root);

// The cores of the affinity mask (live) under those quotas; at least 1.
[[nodiscard]] std::uint32_t usable_cores(const MachineRoot& root);

// A soft limit by its name in /proc/self/limits, as "Max open files"; the largest number means no limit.
[[nodiscard]] Fact<std::uint64_t> soft_limit(const MachineRoot& root, std::string_view name);

// The most that /dev/shm holds: what the running kernel answers, or of a saved machine the option `size` of its mount; unknown
// where that is not written, absent where nothing is mounted there.
[[nodiscard]] Fact<std::uint64_t> shared_memory_bytes(const MachineRoot& root);

}  // namespace waybill
