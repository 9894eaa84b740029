// A short wait without sleeping.
#pragma once

#include <chrono>

namespace waybill {

// To wake a thread costs 50 us and more where an idle processor halts, in a virtual machine above all: as much as a small read
// (docs/measurements). So whoever expects news within that time looks for it that long before sleeping.
inline constexpr std::chrono::microseconds kSpinTime{100};

inline void pause_processor() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

// True as soon as `ready` is; false after `limit`.
template <class Ready>
bool spin_until(const Ready& ready, std::chrono::nanoseconds limit = kSpinTime) {
    constexpr int kLooksPerClock = 32;
    const auto end = std::chrono::steady_clock::now() + limit;
    do {
        for (int k = 0; k < kLooksPerClock; ++k) {
            if (ready()) {
                return true;
            }
            pause_processor();
        }
    } while (std::chrono::steady_clock::now() < end);
    return false;
}

}  // namespace waybill
