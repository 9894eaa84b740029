// The monotonic clock in nanoseconds, and the longest wait by it.
#pragma once

#include <chrono>
#include <cstdint>

namespace waybill {

[[nodiscard]] inline std::uint64_t now_ns() noexcept {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count());
}

// Longer than anyone waits, and short enough to be added to a clock.
inline constexpr std::chrono::nanoseconds kLongestWait = std::chrono::hours(24 * 365);

}  // namespace waybill
