#include "engine/cache_picture.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <limits>

#include "base/cachestat.hpp"
#include "base/read_ahead.hpp"

namespace waybill {
namespace {

constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();

// Where the first bytes from `from` on lie that are not in memory, looked for up to `to` and to the end of the file.
std::uint64_t first_missing(int fd, std::uint64_t from, std::uint64_t to) noexcept {
    struct stat state {};
    to = ::fstat(fd, &state) == 0 ? std::min(to, static_cast<std::uint64_t>(state.st_size)) : to;
    if (const auto all = from < to ? count_cached(fd, from, to - from) : CacheCounts(); all && all->cached_bytes == to - from) {
        return kNone;
    }
    while (from < to) {
        const std::uint64_t size_bytes = std::min(CachePicture::kStepBytes, to - from);
        const auto counts = count_cached(fd, from, size_bytes);
        if (!counts || counts->cached_bytes != size_bytes) {
            return from;
        }
        from += size_bytes;
    }
    return kNone;
}

}  // namespace

CachePicture::CachePicture(std::uint64_t offset, std::uint64_t size_bytes) : offset_(offset), end_(offset + size_bytes) {
    steps_.resize(step_of(end_ - 1) + 1);
}

std::shared_ptr<const CachePicture> CachePicture::take(int fd, std::uint64_t offset, std::uint64_t size_bytes) {
    if (size_bytes == 0) {
        return nullptr;
    }
    const std::shared_ptr<CachePicture> picture(new CachePicture(offset, size_bytes));
    if (!picture->count_steps(fd, 0, picture->steps_.size() - 1)) {
        return nullptr;
    }
    picture->find_stretches(fd);
    return picture;
}

// Of steps `first` to `last`; false where the kernel does not tell. Halves alone that are cached in parts are looked at again:
// what is cached mostly lies in few long stretches, and each look costs a call.
bool CachePicture::count_steps(int fd, std::size_t first, std::size_t last) {
    const std::uint64_t size_bytes = step_end(last) - step_start(first);
    const auto counts = count_cached(fd, step_start(first), size_bytes);
    if (!counts || counts->cached_bytes == 0) {
        return counts.has_value();
    }
    if (first == last) {
        steps_[first].cached_bytes = counts->cached_bytes;
        return true;
    }
    if (counts->cached_bytes == size_bytes) {
        for (std::size_t k = first; k <= last; ++k) {
            steps_[k].cached_bytes = step_end(k) - step_start(k);
        }
        return true;
    }
    const std::size_t middle = first + (last - first) / 2;
    return count_steps(fd, first, middle) && count_steps(fd, middle + 1, last);
}

// A read that meets the mark of an earlier read-ahead lets the kernel read on, into the next bytes that are not in memory if
// they lie within its read-ahead (page_cache_async_ra, mm/readahead.c).
void CachePicture::find_stretches(int fd) {
    bool any = false;
    for (std::size_t k = 0; k < steps_.size(); ++k) {
        any = any || whole(k);
    }
    if (!any) {
        return;
    }
    const std::uint64_t margin = std::max(read_ahead_bytes(fd), kStepBytes);
    std::uint64_t missing = whole(steps_.size() - 1) ? first_missing(fd, end_, end_ + margin) : kNone;
    for (std::size_t k = steps_.size(); k-- > 0;) {
        if (whole(k)) {
            steps_[k].in_memory = missing == kNone || missing - step_end(k) >= margin;
        } else {
            missing = step_start(k);
        }
    }
}

CachePicture::Cached CachePicture::cached_in(std::uint64_t offset, std::uint64_t size_bytes) const noexcept {
    Cached cached;
    const std::uint64_t end = std::min(offset + size_bytes, end_);
    for (std::uint64_t at = std::max(offset, offset_); at < end;) {
        const std::size_t k = step_of(at);
        const std::uint64_t to = std::min(step_end(k), end);
        const std::uint64_t step_bytes = step_end(k) - step_start(k);
        if (to - at == step_bytes || steps_[k].cached_bytes == 0 || whole(k)) {
            cached.bytes += std::min(steps_[k].cached_bytes, to - at);
        } else {
            cached.bytes += steps_[k].cached_bytes * (to - at) / step_bytes;
            cached.exact = false;
        }
        at = to;
    }
    return cached;
}

CachePicture::Stretch CachePicture::stretch(std::uint64_t from, std::uint64_t to) const noexcept {
    if (from < offset_ || from >= end_) {
        return {to, false};
    }
    std::size_t k = step_of(from);
    const bool in_memory = steps_[k].in_memory;
    while (k + 1 < steps_.size() && step_end(k) < to && steps_[k + 1].in_memory == in_memory) {
        ++k;
    }
    return {std::min(step_end(k), to), in_memory};
}

std::uint64_t CachePicture::step_start(std::size_t k) const noexcept {
    return std::max(offset_, (offset_ / kStepBytes + k) * kStepBytes);
}

std::uint64_t CachePicture::step_end(std::size_t k) const noexcept {
    return std::min(end_, (offset_ / kStepBytes + k + 1) * kStepBytes);
}

std::size_t CachePicture::step_of(std::uint64_t offset) const noexcept {
    return static_cast<std::size_t>(offset / kStepBytes - offset_ / kStepBytes);
}

bool CachePicture::whole(std::size_t k) const noexcept {
    return steps_[k].cached_bytes == step_end(k) - step_start(k);
}

}  // namespace waybill
