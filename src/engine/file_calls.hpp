// Reads and writes of a file's range by system calls, with the use of the page cache that was decided.
//
// Every read tells where its bytes were. What a read that must not wait (RWF_NOWAIT) gives was cached; but on a miss it starts
// read-ahead, which would look cached a moment later. So where a miss is likely a picture of the cache is taken beforehand.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/engine.hpp"

namespace waybill {

// From here on read-ahead beyond the range is unwanted: a task brings what it asks for and the next task is elsewhere. Such ranges
// are read by EngineFile::random where it is open.
inline constexpr std::size_t kBulkBytes = 256 * 1024;

struct CallResult {
    std::uint64_t moved_bytes = 0;
    std::uint64_t calls = 0;
    std::uint64_t cached_bytes = 0;
    std::uint64_t device_bytes = 0;
    std::uint64_t unknown_bytes = 0;
    std::uint64_t direct_bytes = 0;
    bool estimated = false;
    bool direct_refused = false;  // O_DIRECT was refused for a range, which then went through the page cache
    Failure failure;  // end_of_file: the file ended before the range did

    // What follows these calls: counts add up, and its failure is the whole's.
    void add(const CallResult& next) noexcept;
};

// How a range is read.
struct ReadWay {
    PageCacheUse use = PageCacheUse::use;
    const CachePicture* picture = nullptr;
};

// Reads [offset, offset + size_bytes) to `memory`, through the page cache.
[[nodiscard]] CallResult read_buffered(const EngineFile& file, const CachePicture* picture, std::uint64_t offset,
                                       std::byte* memory, std::size_t size_bytes);

// Where the byte of `offset` lies in a slot that O_DIRECT may fill: the slot's start plus this.
[[nodiscard]] std::size_t slot_lead(const EngineFile& file, PageCacheUse use, std::uint64_t offset) noexcept;

// Reads to `slot` + slot_lead(...). For bypass and direct the slot is aligned and has kSlotSlackBytes to spare.
[[nodiscard]] CallResult read_to_slot(const EngineFile& file, ReadWay way, std::uint64_t offset, std::byte* slot,
                                      std::size_t size_bytes);

// Where the byte of `offset` should lie in an aligned slot that is written from, so that O_DIRECT can take most of it.
[[nodiscard]] std::size_t write_lead(const EngineFile& file, bool direct, std::uint64_t offset) noexcept;

// Writes; with `direct`, the part that is aligned in file and memory goes through O_DIRECT.
[[nodiscard]] CallResult write_range(const EngineFile& file, bool direct, std::uint64_t offset, const std::byte* memory,
                                     std::size_t size_bytes);

// The Outcome of one task that took these calls.
[[nodiscard]] Outcome outcome_of(const Assignment& assignment, const CallResult& result);

}  // namespace waybill
