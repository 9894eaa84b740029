#include "plan/pieces.hpp"

#include <algorithm>

namespace waybill {
namespace {

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kPage = 4 * kKiB;

Shares shares(std::uint64_t size_bytes, std::uint64_t count) {
    if (size_bytes == 0) {
        return {};
    }
    count = std::max<std::uint64_t>(1, count);
    const std::uint64_t each = (size_bytes / count + kPage - 1) / kPage * kPage;
    const std::uint64_t pieces = (size_bytes + each - 1) / each;
    return {pieces, each, size_bytes - (pieces - 1) * each};
}

std::uint64_t rounded(std::uint64_t size_bytes, std::uint64_t threshold) {
    return (size_bytes + threshold / 2) / threshold;
}

// Without a cufile.json the built-in values hold: seen are 3 pieces for 4 MiB, 4 for 8 MiB and 8 just above it.
PieceRule built_in_rule(std::uint64_t size_bytes) {
    constexpr std::uint64_t kMiB = kKiB * kKiB;
    if (size_bytes <= kMiB) {
        return {shares(size_bytes, 1), true};
    }
    if (size_bytes <= 8 * kMiB) {
        return {shares(size_bytes, std::clamp<std::uint64_t>(size_bytes / kMiB - 1, 1, 4)), size_bytes != 4 * kMiB && size_bytes != 8 * kMiB};
    }
    return {shares(size_bytes, 8), true};
}

}  // namespace

PieceRule split_task(std::uint64_t size_bytes, const CufileConfig& config) {
    if (config.file.empty()) {
        return built_in_rule(size_bytes);
    }
    const std::uint64_t most = std::min(config.max_io_threads, config.max_request_parallelism);
    const std::uint64_t threshold = config.min_io_threshold_bytes;
    if (!config.parallel_io || most <= 1 || threshold == 0 || size_bytes <= threshold) {
        return {shares(size_bytes, 1), false};
    }
    // A size over the threshold is divided by it, rounded half up: 12 MiB by 8 MiB gives 2, 20 MiB 3, 8196 KiB 1.
    const std::uint64_t count = std::clamp<std::uint64_t>(rounded(size_bytes, threshold), 1, most);
    return {shares(size_bytes, count), false};
}

}  // namespace waybill
