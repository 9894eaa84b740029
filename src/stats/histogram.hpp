// Histogram of latencies: log-linear buckets of a fixed number, as in HdrHistogram: each power of two is cut into sixteen
// equal steps, so that a value is known to 1/16 of itself at worst, from nanoseconds to eighteen minutes. Pure.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace waybill {

inline constexpr unsigned kHistogramStepBits = 4;
inline constexpr std::uint64_t kHistogramSteps = std::uint64_t{1} << kHistogramStepBits;
// Values from here on, some eighteen minutes, share the last bucket.
inline constexpr unsigned kHistogramBits = 40;
inline constexpr std::size_t kHistogramBuckets = kHistogramSteps * (kHistogramBits - kHistogramStepBits + 1);

[[nodiscard]] constexpr std::size_t histogram_bucket(std::uint64_t ns) noexcept {
    if (ns < kHistogramSteps) {
        return static_cast<std::size_t>(ns);
    }
    const auto power = static_cast<unsigned>(std::bit_width(ns)) - 1;
    const std::size_t row = power - kHistogramStepBits + 1;
    const auto step = static_cast<std::size_t>((ns >> (power - kHistogramStepBits)) - kHistogramSteps);
    return std::min<std::size_t>(row * kHistogramSteps + step, kHistogramBuckets - 1);
}

// The largest value that belongs to the bucket.
[[nodiscard]] constexpr std::uint64_t histogram_end_ns(std::size_t bucket) noexcept {
    if (bucket < kHistogramSteps) {
        return bucket;
    }
    const std::size_t shift = bucket / kHistogramSteps - 1;
    return ((kHistogramSteps + bucket % kHistogramSteps + 1) << shift) - 1;
}

// The value that the share `part` (0 to 1) of all does not exceed: the end of its bucket, and never more than `max_ns`.
// 0 when nothing was counted.
[[nodiscard]] std::uint64_t histogram_quantile_ns(std::span<const std::uint64_t> counts, double part, std::uint64_t max_ns) noexcept;

}  // namespace waybill
