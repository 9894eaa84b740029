// cachestat(2), Linux 6.5: how much of a file's range is in the page cache, without mapping it.
#pragma once

#include <cstdint>
#include <optional>

namespace waybill {

// At most the range's own bytes, though the kernel counts whole pages and the range may begin and end inside one; all of them
// only where every page is there.
struct CacheCounts {
    std::uint64_t cached_bytes = 0;
    std::uint64_t dirty_bytes = 0;
};

// Absent where the kernel lacks the call or refuses it (a file that the caller neither owns nor may write).
[[nodiscard]] std::optional<CacheCounts> count_cached(int fd, std::uint64_t offset, std::uint64_t size_bytes) noexcept;

}  // namespace waybill
