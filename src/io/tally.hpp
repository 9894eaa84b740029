// Tally: what became of a transfer's units, summed over the threads that moved them. Not thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/engine.hpp"
#include "io/consignment.hpp"

namespace waybill {

struct Tally {
    Outcome sum;                      // of all outcomes
    std::vector<Outcome> broken;      // those that moved less than their task
    std::uint64_t claimed_units = 0;  // units are claimed in order, and none that was claimed is left half way
    std::uint32_t threads = 0;        // that moved bytes
    ThreadTimes times;
    bool broke_off = false;           // a thread left with units in its hands: what they hold is not known

    void add(const Outcome& outcome);
    void add(const ThreadTimes& of_a_thread) noexcept;
    // Of the broken outcomes the one whose bytes come first.
    [[nodiscard]] const Outcome& earliest_broken(const std::vector<Part>& parts) const noexcept;
};

// Where an outcome's first byte lies in the transfer.
[[nodiscard]] std::uint64_t transfer_offset(const std::vector<Part>& parts, const Assignment& assignment) noexcept;

// The bytes of the transfer that are in place, in order.
[[nodiscard]] std::vector<ByteRange> good_ranges(const std::vector<Part>& parts, const Tally& tally);

// The bytes at the start of `part` that are in place.
[[nodiscard]] std::uint64_t good_prefix(const Part& part, const Tally& tally) noexcept;

}  // namespace waybill
