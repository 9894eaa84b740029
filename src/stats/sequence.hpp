// A block of words that changes and is read as a whole, guarded by a sequence that is odd while it changes.
//
// Words are stored with release and loaded with acquire: so neither a store moves before the sequence's first change nor a
// load behind its second look; on x86 both are plain moves.
#pragma once

#include <sched.h>

#include <cstring>

#include "stats/layout.hpp"

namespace waybill {

// While one lives, this thread alone changes the block. For a few stores: other writers spin.
class StatsChange {
public:
    explicit StatsChange(StatsWord& sequence) noexcept : sequence_(sequence) {
        std::uint64_t seen = sequence.load(std::memory_order_relaxed);
        for (unsigned turn = 1; (seen & 1) != 0 || !sequence.compare_exchange_weak(seen, seen + 1, std::memory_order_acquire,
                                                                                  std::memory_order_relaxed);
             ++turn) {
            if (turn % kTurnsBeforeYield == 0) {
                ::sched_yield();  // the thread that changes it may wait for this processor
            }
            seen = sequence.load(std::memory_order_relaxed);
        }
        next_ = seen + 2;
    }
    ~StatsChange() { sequence_.store(next_, std::memory_order_release); }
    StatsChange(const StatsChange&) = delete;
    StatsChange& operator=(const StatsChange&) = delete;

    // The block has never changed before.
    [[nodiscard]] bool is_first() const noexcept { return next_ == 2; }

    static void set(StatsWord& word, std::uint64_t value) noexcept { word.store(value, std::memory_order_release); }
    // Most counters of most requests stay as they are: then their line of the cache is left alone.
    static void add(StatsWord& word, std::uint64_t value) noexcept {
        if (value != 0) {
            set(word, word.load(std::memory_order_relaxed) + value);
        }
    }

private:
    static constexpr unsigned kTurnsBeforeYield = 64;
    StatsWord& sequence_;
    std::uint64_t next_ = 0;
};

// How often one look at a segment waits for blocks that are changing, all of them together: a hostile process must not hold
// its reader up.
inline constexpr unsigned kStatsPatience = 500;

// Copies a block, whose first word is its sequence, word for word, and takes what it waits from `patience`. False when the
// block never stood still (its process is stopped in the middle of a change): then each value is whole, but they may not
// belong together.
template <class Block, class Copy>
[[nodiscard]] bool copy_block(const Block& block, Copy& copy, unsigned& patience) noexcept {
    static_assert(sizeof(Block) == sizeof(Copy));
    const auto* words = reinterpret_cast<const StatsWord*>(&block);
    auto* target = reinterpret_cast<unsigned char*>(&copy);
    while (true) {
        const std::uint64_t before = words[0].load(std::memory_order_acquire);
        if ((before & 1) != 0 && patience != 0) {
            --patience;
            ::sched_yield();
            continue;
        }
        for (std::size_t k = 0; k < sizeof(Block) / sizeof(StatsWord); ++k) {
            const std::uint64_t value = words[k].load(std::memory_order_acquire);
            std::memcpy(target + k * sizeof value, &value, sizeof value);
        }
        if ((before & 1) == 0 && words[0].load(std::memory_order_relaxed) == before) {
            return true;
        }
        if (patience == 0) {
            return false;
        }
        --patience;
    }
}

}  // namespace waybill
