#include "io/tally.hpp"

#include <algorithm>

namespace waybill {

void Tally::add(const Outcome& outcome) {
    sum.moved_bytes += outcome.moved_bytes;
    sum.calls += outcome.calls;
    sum.cached_bytes += outcome.cached_bytes;
    sum.device_bytes += outcome.device_bytes;
    sum.unknown_bytes += outcome.unknown_bytes;
    sum.direct_bytes += outcome.direct_bytes;
    sum.estimated = sum.estimated || outcome.estimated;
    sum.direct_refused = sum.direct_refused || outcome.direct_refused;
    if (outcome.failure) {
        broken.push_back(outcome);
    }
}

void Tally::add(const ThreadTimes& of_a_thread) noexcept {
    times.read_ns += of_a_thread.read_ns;
    times.copy_ns += of_a_thread.copy_ns;
    times.wait_ns += of_a_thread.wait_ns;
}

const Outcome& Tally::earliest_broken(const std::vector<Part>& parts) const noexcept {
    return *std::min_element(broken.begin(), broken.end(), [&](const Outcome& a, const Outcome& b) {
        return transfer_offset(parts, a.assignment) < transfer_offset(parts, b.assignment);
    });
}

std::uint64_t transfer_offset(const std::vector<Part>& parts, const Assignment& assignment) noexcept {
    return part_of(parts, assignment).first_byte + assignment.task.offset;
}

namespace {

std::vector<ByteRange> without(const std::vector<ByteRange>& ranges, std::uint64_t from, std::uint64_t to) {
    std::vector<ByteRange> rest;
    for (const ByteRange& range : ranges) {
        const std::uint64_t end = range.offset + range.bytes;
        if (range.offset < std::min(from, end)) {
            rest.push_back({range.offset, std::min(from, end) - range.offset});
        }
        if (end > std::max(to, range.offset)) {
            rest.push_back({std::max(to, range.offset), end - std::max(to, range.offset)});
        }
    }
    return rest;
}

}  // namespace

std::vector<ByteRange> good_ranges(const std::vector<Part>& parts, const Tally& tally) {
    std::vector<ByteRange> good;
    if (tally.broke_off || tally.claimed_units == 0) {
        return good;
    }
    const Part& last = part_of(parts, tally.claimed_units - 1);
    const Task task = last.units.at(tally.claimed_units - 1 - last.first_unit);
    std::vector<Outcome> broken = tally.broken;
    std::sort(broken.begin(), broken.end(), [&](const Outcome& a, const Outcome& b) {
        return transfer_offset(parts, a.assignment) < transfer_offset(parts, b.assignment);
    });
    std::uint64_t from = 0;
    const auto add_range = [&](std::uint64_t to) {
        if (to > from) {
            good.push_back({from, to - from});
        }
    };
    for (const Outcome& outcome : broken) {
        const std::uint64_t at = transfer_offset(parts, outcome.assignment);
        add_range(at + outcome.moved_bytes);
        from = at + outcome.assignment.task.size_bytes;
    }
    add_range(last.first_byte + task.offset + task.size_bytes);
    for (const Part& part : parts) {
        if (part.lost_bytes != 0) {
            const std::uint64_t end = part.first_byte + part.size_bytes;
            good = without(good, end - part.lost_bytes, end);
        }
    }
    return good;
}

std::uint64_t good_prefix(const Part& part, const Tally& tally) noexcept {
    if (tally.broke_off || tally.claimed_units <= part.first_unit) {
        return 0;
    }
    const std::uint64_t claimed = tally.claimed_units - part.first_unit;
    std::uint64_t good = claimed < part.units.count() ? part.units.at(claimed).offset : part.size_bytes;
    for (const Outcome& outcome : tally.broken) {
        if (outcome.assignment.work == &part.work) {
            good = std::min(good, outcome.assignment.task.offset + outcome.moved_bytes);
        }
    }
    return std::min(good, part.size_bytes - part.lost_bytes);
}

}  // namespace waybill
