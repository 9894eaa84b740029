#include "stats/writer.hpp"

#include <algorithm>
#include <cstring>

#include "base/clock.hpp"
#include "stats/segment.hpp"
#include "stats/sequence.hpp"

namespace waybill {
namespace {

using Change = StatsChange;

void set_text(StatsWord* words, std::size_t count, const std::string& text) noexcept {
    for (std::size_t k = 0; k < count; ++k) {
        std::uint64_t value = 0;
        const std::size_t at = k * sizeof value;
        if (at < text.size()) {
            std::memcpy(&value, text.data() + at, std::min(sizeof value, text.size() - at));
        }
        Change::set(words[k], value);
    }
}

void set_counters(StatsCufileOf<StatsWord>& words, const CufileCounters& counters) noexcept {
    Change::set(words.n, counters.n);
    Change::set(words.nvfs, counters.nvfs);
    Change::set(words.p2pdma, counters.p2pdma);
    Change::set(words.posix, counters.posix);
    Change::set(words.unaligned, counters.unaligned);
    Change::set(words.errors, counters.errors);
    Change::set(words.bytes, counters.bytes);
}

void forget_ours(StatsCufileOf<StatsWord>& words) noexcept {
    for (StatsWord* word : {&words.our_nvfs_bytes, &words.our_p2pdma_bytes, &words.our_posix_bytes, &words.our_other_bytes}) {
        Change::set(*word, 0);
    }
}

StatsWord& ours(StatsCufileOf<StatsWord>& words, Path path) noexcept {
    switch (path) {
        case Path::nvidia_fs: return words.our_nvfs_bytes;
        case Path::p2pdma: return words.our_p2pdma_bytes;
        case Path::cufile_posix: return words.our_posix_bytes;
        default: return words.our_other_bytes;
    }
}

// Only bytes of requests that looked are ours here, so that cuFile's total of a look holds at least ours of that moment.
[[gnu::noinline]] void add_totals(StatsGpu& gpu, const Receipt& receipt, const StatsCufileTotals& totals) noexcept {
    const Change change(gpu.sequence);
    const std::uint64_t looked_before = gpu.looked_ns.load(std::memory_order_relaxed);
    if (totals.looked_ns >= looked_before) {  // else another request looked later and was quicker to get here
        for (const Direction direction : {Direction::read, Direction::write}) {
            StatsCufileOf<StatsWord>& words = gpu.cufile[static_cast<std::size_t>(direction)];
            const CufileCounters& counters = direction == Direction::read ? totals.reads : totals.writes;
            if (counters.n < words.n.load(std::memory_order_relaxed)) {
                forget_ours(words);  // the driver was closed and opened, or its counters were reset: both begin again
            }
            set_counters(words, counters);
        }
        Change::set(gpu.looked_ns, totals.looked_ns);
    }
    if (receipt.engine == EngineKind::cufile) {
        Change::add(ours(gpu.cufile[static_cast<std::size_t>(receipt.op)], receipt.path), receipt.moved_bytes);
    }
}

void describe(StatsGpu& gpu, const std::string& name, const std::string& uuid) noexcept {
    const Change change(gpu.sequence);
    set_text(gpu.name, kStatsNameWords, name);
    set_text(gpu.uuid, std::size(gpu.uuid), uuid);
    Change::set(gpu.known, 1);
}

// What a small read from the page cache leaves alone; under the row's change.
[[gnu::cold]] void add_rest(StatsRow& row, const Receipt& receipt, bool failed) noexcept {
    Change::add(row.device_bytes, receipt.source.device_bytes);
    Change::add(row.unknown_bytes, receipt.source.unknown_bytes);
    Change::add(row.missing_bytes, receipt.asked_bytes - std::min(receipt.asked_bytes, receipt.moved_bytes));
    Change::add(row.further_tasks, receipt.tasks.count - 1);
    Change::add(row.proved, receipt.judgement == Judgement::proved ? 1 : 0);
    Change::add(row.contradicted, receipt.judgement == Judgement::contradicted ? 1 : 0);
    Change::add(row.errors, failed ? 1 : 0);
}

// What a request is to its row.
struct Place {
    bool first = false;
    bool longest = false;
};

Place add_to_row(StatsRow& row, const Receipt& receipt, bool failed) noexcept {
    const bool plain = receipt.source.page_cache_bytes == receipt.asked_bytes && receipt.moved_bytes == receipt.asked_bytes &&
                       receipt.tasks.count == 1 && receipt.judgement == Judgement::consistent && !failed;
    const std::uint64_t ns = receipt.times.total_ns;
    const Change change(row.sequence);
    Change::add(row.moved_bytes, receipt.moved_bytes);
    Change::add(row.cached_bytes, receipt.source.page_cache_bytes);
    if (!plain) {
        add_rest(row, receipt, failed);
    }
    bool longest = false;
    if (!failed) {
        Change::add(row.latency_sum_ns, ns);
        longest = ns > row.latency_max_ns.load(std::memory_order_relaxed);
        if (longest) {
            Change::set(row.latency_max_ns, ns);
        }
        Change::add(row.histogram[histogram_bucket(ns)], 1);
    }
    return {change.is_first(), longest};
}

// The life of a process begins with its first request, and a request is counted when it ends. One that began before all that
// were counted is the first of its row or the longest so far, so no other has to look at the clock.
[[gnu::cold]] void begin_life(StatsSegment& segment, std::uint64_t request_ns) noexcept {
    const std::uint64_t now = now_ns();
    const std::uint64_t began = now - std::min(now, request_ns);
    std::uint64_t start = segment.start_ns.load(std::memory_order_relaxed);
    while (began < start) {
        if (segment.start_ns.compare_exchange_weak(start, began, std::memory_order_relaxed)) {
            segment.start_unix_ns.fetch_sub(start - began, std::memory_order_relaxed);
            return;
        }
    }
}

// What a row's first request leaves beside it.
[[gnu::cold]] void announce(StatsSegment& segment, std::size_t place, const Receipt& receipt, const std::string& uuid) noexcept {
    if (receipt.destination.device >= 0) {
        describe(segment.gpus[receipt.destination.device], receipt.destination.name, uuid);
    }
    segment.used[place / 64].fetch_or(std::uint64_t{1} << place % 64, std::memory_order_release);
}

}  // namespace

void add_request(StatsSegment& segment, const Receipt& receipt, bool failed, const std::string& uuid,
                 const StatsCufileTotals* totals) noexcept {
    const int device = std::max(receipt.destination.device, -1);
    if (device >= static_cast<int>(kStatsGpus)) {
        segment.uncounted.fetch_add(1, std::memory_order_relaxed);
        return;
    }
    const std::size_t place = stats_row(device, receipt.path, receipt.op);
    const Place request = add_to_row(segment.rows[place], receipt, failed);
    if (request.first || request.longest) {
        begin_life(segment, receipt.times.total_ns);
    }
    if (request.first) {
        announce(segment, place, receipt, uuid);
    }
    if (totals != nullptr && device >= 0) {
        add_totals(segment.gpus[device], receipt, *totals);
    }
}

void count_request(const Receipt& receipt, bool failed, const std::string& uuid,
                   const StatsCufileTotals* totals) noexcept {
    if (StatsSegment* segment = own_segment()) {
        add_request(*segment, receipt, failed, uuid, totals);
    }
}

void count_refused(Direction direction) noexcept {
    if (StatsSegment* segment = own_segment()) {
        segment->refused[static_cast<std::size_t>(direction)].fetch_add(1, std::memory_order_relaxed);
    }
}

}  // namespace waybill
