#include "base/cachestat.hpp"

#include <sys/syscall.h>
#include <unistd.h>

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

std::optional<CacheCounts> cached_pages(int fd, std::uint64_t offset, std::uint64_t size_bytes) noexcept {
    const Range range{offset, size_bytes};
    Counts counts{};
    if (::syscall(kCachestatCall, fd, &range, &counts, 0U) != 0) {
        return std::nullopt;
    }
    return CacheCounts{counts.cached, counts.dirty};
}

}  // namespace waybill
