#include "engine/file_calls.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/cachestat.hpp"
#include "base/page.hpp"

namespace waybill {
namespace {

// The kernel moves at most this much in one call (read(2)).
constexpr std::size_t kMostPerCall = 0x7ffff000;

std::uint64_t align_down(std::uint64_t value, std::uint64_t align) noexcept { return value / align * align; }
std::uint64_t align_up(std::uint64_t value, std::uint64_t align) noexcept { return align_down(value + align - 1, align); }

int bulk_descriptor(const EngineFile& file, std::size_t size_bytes) noexcept {
    return size_bytes >= kBulkBytes && file.random >= 0 ? file.random : file.buffered;
}

// The part of a read that may be done without waiting for storage. Stops at the first byte that is not cached.
// `refused`: the file system cannot tell.
void read_cached(int fd, std::uint64_t offset, std::byte* memory, std::size_t size_bytes, std::size_t most_per_call,
                 CallResult& result, bool& refused) {
    while (result.moved_bytes < size_bytes) {
        iovec part{memory + result.moved_bytes, std::min<std::size_t>(size_bytes - result.moved_bytes, most_per_call)};
        const ssize_t count = ::preadv2(fd, &part, 1, static_cast<off_t>(offset + result.moved_bytes), RWF_NOWAIT);
        ++result.calls;
        if (count > 0) {
            result.moved_bytes += static_cast<std::uint64_t>(count);
            result.cached_bytes += static_cast<std::uint64_t>(count);
        } else if (count == 0) {
            result.failure = {Failure::Kind::end_of_file, 0};
            return;
        } else if (errno == EAGAIN) {
            return;
        } else if (errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL) {
            refused = true;
            return;
        } else if (errno != EINTR) {
            result.failure = {Failure::Kind::system, errno};
            return;
        }
    }
}

// Blocking reads until the range is full; the bytes are returned, not yet put down to a source.
std::uint64_t read_waiting(int fd, std::uint64_t offset, std::byte* memory, std::size_t size_bytes, CallResult& result) {
    const std::uint64_t before = result.moved_bytes;
    while (result.moved_bytes < size_bytes) {
        const std::size_t most = std::min<std::size_t>(size_bytes - result.moved_bytes, kMostPerCall);
        const ssize_t count = ::pread(fd, memory + result.moved_bytes, most, static_cast<off_t>(offset + result.moved_bytes));
        ++result.calls;
        if (count > 0) {
            result.moved_bytes += static_cast<std::uint64_t>(count);
        } else if (count == 0) {
            result.failure = {Failure::Kind::end_of_file, 0};
            break;
        } else if (errno != EINTR) {
            result.failure = {Failure::Kind::system, errno};
            break;
        }
    }
    return result.moved_bytes - before;
}

// One read through O_DIRECT of the aligned range around [from, to) of the file. `memory_of(offset)` is aligned.
// Returns the offset up to which the bytes are there.
std::uint64_t read_direct(const EngineFile& file, std::uint64_t from, std::uint64_t to, std::byte* slot,
                          std::uint64_t slot_offset, CallResult& result) {
    const std::uint64_t first = align_down(from, file.direct_align);
    const std::uint64_t last = align_up(to, file.direct_align);
    std::uint64_t at = first;
    while (at < to) {
        const ssize_t count = ::pread(file.direct, slot + (at - slot_offset), std::min<std::size_t>(last - at, kMostPerCall),
                                      static_cast<off_t>(at));
        ++result.calls;
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0) {
            result.failure = {Failure::Kind::system, errno};
            break;
        }
        at += static_cast<std::uint64_t>(count);
        if (count == 0 || at % file.direct_align != 0) {
            break;  // the end of the file, or a file system that gives less: the rest is read buffered
        }
    }
    return std::clamp(at, from, to);
}

// A file system may open a file with O_DIRECT and refuse the call after all, or want more alignment than it told: open(2).
// Then the failure is none, and the caller goes on through the page cache.
bool take_back_refusal(CallResult& result) noexcept {
    const bool refused =
        result.failure.kind == Failure::Kind::system && (result.failure.value == EINVAL || result.failure.value == EOPNOTSUPP);
    if (refused) {
        result.failure = {};
        result.direct_refused = true;
    }
    return refused;
}

}  // namespace

void CallResult::add(const CallResult& next) noexcept {
    moved_bytes += next.moved_bytes;
    calls += next.calls;
    cached_bytes += next.cached_bytes;
    device_bytes += next.device_bytes;
    unknown_bytes += next.unknown_bytes;
    direct_bytes += next.direct_bytes;
    estimated = estimated || next.estimated;
    direct_refused = direct_refused || next.direct_refused;
    failure = next.failure;
}

CallResult read_buffered(const EngineFile& file, const CachePicture* picture, std::uint64_t offset, std::byte* memory,
                         std::size_t size_bytes) {
    CallResult result;
    const int fd = bulk_descriptor(file, size_bytes);
    if (picture != nullptr) {
        const CachePicture::Cached cached = picture->cached_in(offset, size_bytes);
        if (cached.bytes != size_bytes) {
            const std::uint64_t bytes = read_waiting(fd, offset, memory, size_bytes, result);
            result.cached_bytes = std::min(bytes, cached.bytes);
            result.device_bytes = bytes - result.cached_bytes;
            result.estimated = !cached.exact;
            return result;
        }
    }
    bool refused = false;
    read_cached(fd, offset, memory, size_bytes, kMostPerCall, result, refused);
    if (result.failure || result.moved_bytes == size_bytes) {
        return result;
    }
    // A miss, or the mark of a read-ahead, at which the kernel stops too though the page is there (filemap_get_pages,
    // mm/filemap.c): of what is left that counts as cached which is in memory now.
    const std::uint64_t left = size_bytes - result.moved_bytes;
    const auto in_memory = refused || left <= page_bytes() ? std::nullopt : count_cached(fd, offset + result.moved_bytes, left);
    const std::uint64_t bytes = read_waiting(fd, offset, memory, size_bytes, result);
    const std::uint64_t cached_bytes = in_memory ? std::min(bytes, in_memory->cached_bytes) : 0;
    result.cached_bytes += cached_bytes;
    (refused ? result.unknown_bytes : result.device_bytes) += bytes - cached_bytes;
    result.estimated = !refused && bytes > page_bytes();
    return result;
}

std::size_t slot_lead(const EngineFile& file, PageCacheUse use, std::uint64_t offset) noexcept {
    return use == PageCacheUse::use || file.direct < 0 ? 0 : offset % file.direct_align;
}

namespace {

// Reads [from, to) of a slot's range around the cache.
void read_around_cache(const EngineFile& file, const CachePicture* picture, std::uint64_t from, std::uint64_t to, std::byte* slot,
                       std::uint64_t slot_offset, std::byte* memory, std::uint64_t offset, CallResult& result) {
    const std::uint64_t reached = read_direct(file, from, to, slot, slot_offset, result);
    result.moved_bytes = reached - offset;
    result.device_bytes += reached - from;
    result.direct_bytes += reached - from;
    if (take_back_refusal(result)) {
        result.add(read_buffered(file, picture, reached, memory + (reached - offset), to - reached));
    } else if (!result.failure && reached < to) {
        result.device_bytes += read_waiting(file.buffered, offset, memory, to - offset, result);
    }
}

}  // namespace

CallResult read_to_slot(const EngineFile& file, ReadWay way, std::uint64_t offset, std::byte* slot, std::size_t size_bytes) {
    std::byte* const memory = slot + slot_lead(file, way.use, offset);
    if (way.use == PageCacheUse::use || file.direct < 0) {
        return read_buffered(file, way.picture, offset, memory, size_bytes);
    }
    const std::uint64_t slot_offset = align_down(offset, file.direct_align);
    const std::uint64_t end = offset + size_bytes;
    CallResult result;
    while (result.moved_bytes < size_bytes && !result.failure) {
        // Bypass takes from memory what lay there whole. Where that cannot be told the device is read: it is never wrong.
        const CachePicture::Stretch next = way.use == PageCacheUse::bypass && way.picture != nullptr
                                               ? way.picture->stretch(offset + result.moved_bytes, end)
                                               : CachePicture::Stretch{end, false};
        if (next.in_memory) {
            bool refused = false;
            read_cached(file.random >= 0 ? file.random : file.buffered, offset, memory, next.end - offset,
                        CachePicture::kStepBytes, result, refused);
        }
        if (const std::uint64_t from = offset + result.moved_bytes; from < next.end && !result.failure) {
            read_around_cache(file, way.picture, from, next.end, slot, slot_offset, memory, offset, result);
        }
    }
    return result;
}

namespace {

void write_all(int fd, std::uint64_t offset, const std::byte* memory, std::uint64_t size_bytes, CallResult& result) {
    std::uint64_t done = 0;
    while (done < size_bytes) {
        const ssize_t count = ::pwrite(fd, memory + done, std::min<std::size_t>(size_bytes - done, kMostPerCall),
                                       static_cast<off_t>(offset + done));
        ++result.calls;
        if (count > 0) {
            done += static_cast<std::uint64_t>(count);
            result.moved_bytes += static_cast<std::uint64_t>(count);
        } else if (count == 0) {
            result.failure = {Failure::Kind::nothing_written, 0};
            return;
        } else if (errno != EINTR) {
            result.failure = {Failure::Kind::system, errno};
            return;
        }
    }
}

}  // namespace

std::size_t write_lead(const EngineFile& file, bool direct, std::uint64_t offset) noexcept {
    return direct ? offset % file.direct_align : 0;
}

CallResult write_range(const EngineFile& file, bool direct, std::uint64_t offset, const std::byte* memory,
                       std::size_t size_bytes) {
    CallResult result;
    // Whole pages, so that no page is written both ways.
    const std::uint64_t align = std::max<std::uint64_t>(file.direct_align, page_bytes());
    const std::uint64_t first = align_up(offset, align);
    const std::uint64_t last = align_down(offset + size_bytes, align);
    const bool fits = direct && file.direct >= 0 && first < last &&
                      reinterpret_cast<std::uintptr_t>(memory + (first - offset)) % file.direct_align == 0;
    if (!fits) {
        write_all(file.buffered, offset, memory, size_bytes, result);
        return result;
    }
    write_all(file.buffered, offset, memory, first - offset, result);
    if (!result.failure) {
        const std::uint64_t before = result.moved_bytes;
        write_all(file.direct, first, memory + (first - offset), last - first, result);
        result.direct_bytes = result.moved_bytes - before;
    }
    if (take_back_refusal(result)) {
        write_all(file.buffered, offset + result.moved_bytes, memory + result.moved_bytes, last - offset - result.moved_bytes, result);
    }
    if (!result.failure) {
        write_all(file.buffered, last, memory + (last - offset), offset + size_bytes - last, result);
    }
    return result;
}

Outcome outcome_of(const Assignment& assignment, const CallResult& result) {
    return {assignment,           result.moved_bytes,  result.calls,     result.cached_bytes, result.device_bytes,
            result.unknown_bytes, result.direct_bytes, result.estimated, result.direct_refused, result.failure};
}

}  // namespace waybill
