#include "waybill/facts.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "base/cachestat.hpp"
#include "base/fd.hpp"
#include "base/page.hpp"

namespace waybill {
namespace {

bool owns_or_may_write(int fd) noexcept {
    struct stat state {};
    if (::fstat(fd, &state) == 0 && state.st_uid == ::geteuid()) {
        return true;
    }
    return (::fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY || static_cast<bool>(reopen(fd, O_RDWR));
}

// mincore wants a mapping; it is never touched, so a truncation meanwhile does no harm.
std::uint64_t resident_by_mincore(int fd, std::uint64_t offset, std::uint64_t size_bytes, bool& failed) {
    const std::uint64_t first = offset / page_bytes() * page_bytes();
    const std::size_t length = offset + size_bytes - first;
    void* const mapping = ::mmap(nullptr, length, PROT_READ, MAP_SHARED, fd, static_cast<off_t>(first));
    std::vector<unsigned char> pages((length + page_bytes() - 1) / page_bytes());
    failed = mapping == MAP_FAILED || ::mincore(mapping, length, pages.data()) != 0;
    if (mapping != MAP_FAILED) {
        ::munmap(mapping, length);
    }
    if (failed) {
        return 0;
    }
    const auto resident = std::count_if(pages.begin(), pages.end(), [](unsigned char page) { return (page & 1) != 0; });
    return std::min<std::uint64_t>(static_cast<std::uint64_t>(resident) * page_bytes(), size_bytes);
}

}  // namespace

Residency measure_residency(int fd, std::uint64_t offset, std::uint64_t size_bytes) noexcept {
    Residency residency;
    residency.range_bytes = size_bytes;
    if (size_bytes == 0) {
        residency.state = Residency::State::known;
        residency.source = "empty range";
        return residency;
    }
    if (const auto counts = count_cached(fd, offset, size_bytes)) {
        residency.state = Residency::State::known;
        residency.cached_bytes = counts->cached_bytes;
        residency.dirty_bytes = counts->dirty_bytes;
        residency.source = "cachestat";
        return residency;
    }
    bool failed = true;
    try {
        if (owns_or_may_write(fd)) {
            residency.cached_bytes = resident_by_mincore(fd, offset, size_bytes, failed);
        }
    } catch (...) {
        failed = true;
    }
    residency.state = failed ? Residency::State::unknown : Residency::State::known;
    residency.source = failed ? "cachestat refused, and mincore answers an owner or a writer of the file alone" : "mincore";
    return residency;
}

}  // namespace waybill
