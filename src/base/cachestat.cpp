#include "base/cachestat.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "base/page.hpp"

namespace waybill {
namespace {

// include/uapi/linux/mman.h: struct cachestat_range and struct cachestat.
struct Range {
    std::uint64_t offset;
    std::uint64_t size_bytes;
};
struct Counts {
    std::uint64_t cached;
    std::uint64_t dirty;
    std::uint64_t writeback;
    std::uint64_t evicted;
    std::uint64_t recently_evicted;
};
constexpr long kCachestatCall = 451;  // the same number on all architectures

}  // namespace

std::optional<CacheCounts> count_cached(int fd, std::uint64_t offset, std::uint64_t size_bytes) noexcept {
    const Range range{offset, size_bytes};
    Counts counts{};
    if (::syscall(kCachestatCall, fd, &range, &counts, 0U) != 0) {
        return std::nullopt;
    }
    // Of a page that is not there at least one byte is in the range.
    const std::uint64_t page = page_bytes();
    const std::uint64_t pages = size_bytes == 0 ? 0 : (offset + size_bytes - 1) / page - offset / page + 1;
    const std::uint64_t missing = pages - std::min(pages, counts.cached);
    return CacheCounts{std::min(counts.cached * page, size_bytes - std::min(missing, size_bytes)),
                       std::min(counts.dirty * page, size_bytes)};
}

}  // namespace waybill
