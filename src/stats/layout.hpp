// Layout of the shared memory that holds a process's statistics, version 1.
//
// One segment a process: a memory file without a name in any file system (memfd), so that it goes with the process. All of it
// is 64-bit words that are written and read as atomics: no value tears. Blocks that belong together (a row, a GPU) carry a
// sequence: odd while they change, so that a reader can take a whole one. A row's place follows from what it counts.
// Another layout gets another version; a reader takes no other than its own.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "stats/histogram.hpp"
#include "waybill/route.hpp"

namespace waybill {

inline constexpr char kStatsName[] = "waybill-stats-v1";
inline constexpr std::uint64_t kStatsMagic = 0x73746174'79626177;  // "waybstat"
inline constexpr std::uint64_t kStatsVersion = 1;
inline constexpr std::size_t kStatsGpus = 16;  // as cuFile's own table
inline constexpr std::size_t kStatsPaths = 7;
inline constexpr std::size_t kStatsDirections = 2;
inline constexpr std::size_t kStatsRows = (kStatsGpus + 1) * kStatsPaths * kStatsDirections;
inline constexpr std::size_t kStatsNameWords = 8;

// `Word` is an atomic in the segment and a plain number in a reader's copy.
template <class Word>
struct StatsRowOf {
    // What a small read from the page cache changes is in one line of the cache, with a bucket; the rest stays untouched, as
    // each nanosecond counts there.
    Word sequence;
    Word moved_bytes;
    Word cached_bytes;     // of reads: where the bytes were
    Word latency_sum_ns;   // of requests without an error, as is the histogram
    Word latency_max_ns;
    Word errors;           // requests that ended with one; all requests are these and the histogram's
    Word device_bytes;
    Word unknown_bytes;
    Word missing_bytes;    // that were asked for and not moved
    Word further_tasks;    // of a request after its first; a request without a task counts -1, as unsigned numbers do
    Word proved;           // receipts so judged; the rest is consistent
    Word contradicted;
    Word reserved[4];
    Word histogram[kHistogramBuckets];
};

// cuFile's own counters of one direction as last read, and what Waybill had moved through cuFile up to that look.
template <class Word>
struct StatsCufileOf {
    Word n;
    Word nvfs;
    Word p2pdma;
    Word posix;
    Word unaligned;
    Word errors;
    Word bytes;
    Word our_nvfs_bytes;
    Word our_p2pdma_bytes;
    Word our_posix_bytes;
    Word our_other_bytes;  // of mixed receipts
};

template <class Word>
struct StatsGpuOf {
    Word sequence;
    Word known;
    Word looked_ns;  // at cuFile's counters; 0: never
    Word uuid[2];
    Word name[kStatsNameWords];
    StatsCufileOf<Word> cufile[kStatsDirections];
};

using StatsWord = std::atomic<std::uint64_t>;
using StatsRow = StatsRowOf<StatsWord>;
using StatsGpu = StatsGpuOf<StatsWord>;

struct StatsSegment {
    StatsWord magic;
    StatsWord version;
    StatsWord size_bytes;
    StatsWord pid;                // in the process's own namespace
    StatsWord start_unix_ns;      // when the first request began (of those that have ended)
    StatsWord start_ns;           // the same by the monotonic clock
    StatsWord uncounted;          // requests on a GPU past the sixteenth
    StatsWord refused[kStatsDirections];  // requests that failed before a byte moved, and so have no path
    StatsWord library[2];         // Waybill's version as text
    StatsWord used[(kStatsRows + 63) / 64];  // a bit a row; rows without it are never read, so their memory is never made
    StatsGpu gpus[kStatsGpus];
    alignas(64) StatsRow rows[kStatsRows];
};

static_assert(StatsWord::is_always_lock_free && sizeof(StatsWord) == 8);
static_assert(sizeof(StatsRow) % 64 == 0, "rows don't share a line of the cache");
static_assert(sizeof(StatsRow) == sizeof(StatsRowOf<std::uint64_t>) && sizeof(StatsGpu) == sizeof(StatsGpuOf<std::uint64_t>));
static_assert(static_cast<std::size_t>(Path::unknown) + 1 == kStatsPaths);

// `device`: CUDA's ordinal, -1 for the host, below kStatsGpus.
[[nodiscard]] constexpr std::size_t stats_row(int device, Path path, Direction direction) noexcept {
    return (static_cast<std::size_t>(device + 1) * kStatsPaths + static_cast<std::size_t>(path)) * kStatsDirections +
           static_cast<std::size_t>(direction);
}

}  // namespace waybill
