#include "evidence/cufile_counters.hpp"

#include <cstdint>
#include <cstring>

namespace waybill {
namespace {

// Sizes by version, from compiling both headers: level 1 grew from 512 to 624 bytes in 1.19, level 2 adds two histograms
// of 32 counters, level 3 a GPU count and 16 rows of 248 bytes. The getter takes no size, so there is room to spare.
constexpr int kLevel1GrewIn = 1190;
constexpr std::size_t kLevel1Bytes = 512;
constexpr std::size_t kLevel1BytesLater = 624;
constexpr std::size_t kHistogramBytes = std::size_t{2} * 32 * 8;
constexpr std::size_t kRowBytes = 248;
constexpr std::size_t kMostGpus = 16;
constexpr std::size_t kRoomBytes = 64 * 1024;
constexpr std::size_t kUuidBytes = 16;

// Places of the 64-bit counters of a row, after the UUID.
constexpr std::size_t kReadBytes = 0;
constexpr std::size_t kReads = 4;  // then p2p, nvfs, posix, unaligned
constexpr std::size_t kReadErrors = 12;
constexpr std::size_t kWriteBytes = 13;
constexpr std::size_t kWrites = 17;
constexpr std::size_t kWriteErrors = 23;

std::uint64_t counter(const std::byte* row, std::size_t place) noexcept {
    std::uint64_t value = 0;
    std::memcpy(&value, row + kUuidBytes + place * sizeof value, sizeof value);
    return value;
}

CufileCounters decode(const std::byte* row, std::size_t bytes, std::size_t first, std::size_t errors) noexcept {
    CufileCounters counts;
    counts.bytes = counter(row, bytes);
    counts.n = counter(row, first);
    counts.p2pdma = counter(row, first + 1);
    counts.nvfs = counter(row, first + 2);
    counts.posix = counter(row, first + 3);
    counts.unaligned = counter(row, first + 4);
    counts.errors = counter(row, errors);
    return counts;
}

}  // namespace

std::optional<CufileCounts> decode_cufile_counters(const std::vector<std::byte>& statistics, int version,
                                                   const std::string& uuid) {
    const std::size_t level1 = version >= kLevel1GrewIn ? kLevel1BytesLater : kLevel1Bytes;
    const std::size_t count_at = level1 + kHistogramBytes;
    const std::size_t rows_at = count_at + sizeof(std::uint64_t);
    if (version == 0 || uuid.size() != kUuidBytes || statistics.size() < rows_at + kMostGpus * kRowBytes) {
        return std::nullopt;
    }
    std::uint32_t gpus = 0;
    std::memcpy(&gpus, statistics.data() + count_at, sizeof gpus);
    if (gpus > kMostGpus) {
        return std::nullopt;  // not this layout
    }
    for (std::size_t k = 0; k < gpus; ++k) {
        const std::byte* row = statistics.data() + rows_at + k * kRowBytes;
        if (std::memcmp(row, uuid.data(), kUuidBytes) == 0) {
            return CufileCounts{decode(row, kReadBytes, kReads, kReadErrors),
                                decode(row, kWriteBytes, kWrites, kWriteErrors)};
        }
    }
    return CufileCounts{};
}

std::optional<CufileCounts> read_cufile_counters(const CufileDriver& driver, const std::string& uuid) {
    if (!driver.statistics) {
        return std::nullopt;
    }
    thread_local std::vector<std::byte> statistics(kRoomBytes);
    if (driver.api.get_stats_l3(statistics.data()).code != kCufileSuccess) {
        return std::nullopt;
    }
    return decode_cufile_counters(statistics, driver.version, uuid);
}

}  // namespace waybill
