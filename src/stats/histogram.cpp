#include "stats/histogram.hpp"

#include <cmath>

namespace waybill {

std::uint64_t histogram_quantile_ns(std::span<const std::uint64_t> counts, double part, std::uint64_t max_ns) noexcept {
    double total = 0;
    for (const std::uint64_t count : counts) {
        total += static_cast<double>(count);
    }
    if (total == 0) {
        return 0;
    }
    const double rank = std::max(1.0, std::ceil(part * total));
    double seen = 0;
    for (std::size_t bucket = 0; bucket < counts.size(); ++bucket) {
        seen += static_cast<double>(counts[bucket]);
        if (seen >= rank) {
            // What is longer than the last bucket's start is known by the maximum alone.
            return bucket + 1 == kHistogramBuckets ? max_ns : std::min(histogram_end_ns(bucket), max_ns);
        }
    }
    return max_ns;
}

}  // namespace waybill
