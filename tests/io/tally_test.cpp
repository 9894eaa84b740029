#include "io/tally.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace waybill {
namespace {

// Two requests of a call: 250 and 100 bytes in units of 100, so units 0 1 2 | 3.
struct TwoParts {
    std::vector<Part> parts = std::vector<Part>(2);
    Tally tally;

    TwoParts() {
        parts[0].size_bytes = parts[0].asked_bytes = 250;
        parts[1].size_bytes = parts[1].asked_bytes = 100;
        for (Part& part : parts) {
            part.units = Units(part.size_bytes, 100, 100);
        }
        tally.claimed_units = lay_out_units(parts);
    }
    // That unit moved so many bytes and then failed.
    void fail(std::uint64_t unit, std::uint64_t moved) {
        const Part& part = part_of(parts, unit);
        Outcome outcome;
        outcome.assignment = {&part.work, part.units.at(unit - part.first_unit)};
        outcome.moved_bytes = moved;
        outcome.failure = {Failure::Kind::system, 5};
        tally.add(outcome);
    }
};

TEST(Tally, AllIsGoodWhereNothingFailed) {
    TwoParts call;
    EXPECT_EQ(call.tally.claimed_units, 4U);
    EXPECT_EQ(good_ranges(call.parts, call.tally), (std::vector<ByteRange>{{0, 350}}));
    EXPECT_EQ(good_prefix(call.parts[0], call.tally), 250U);
    EXPECT_EQ(good_prefix(call.parts[1], call.tally), 100U);
}

TEST(Tally, AFailureLeavesAHoleAndEndsThePrefixOfItsRequestAlone) {
    TwoParts call;
    call.fail(1, 30);
    EXPECT_EQ(good_ranges(call.parts, call.tally), (std::vector<ByteRange>{{0, 130}, {200, 150}}));
    EXPECT_EQ(good_prefix(call.parts[0], call.tally), 130U);
    EXPECT_EQ(good_prefix(call.parts[1], call.tally), 100U);
}

TEST(Tally, FailuresCountInTheOrderOfTheFileNotOfTheirArrival) {
    TwoParts call;
    call.fail(3, 0);
    call.fail(0, 7);
    EXPECT_EQ(good_ranges(call.parts, call.tally), (std::vector<ByteRange>{{0, 7}, {100, 150}}));
    EXPECT_EQ(transfer_offset(call.parts, call.tally.earliest_broken(call.parts).assignment), 0U);
    EXPECT_EQ(good_prefix(call.parts[1], call.tally), 0U);
}

TEST(Tally, WhatNobodyClaimedIsNotGood) {
    TwoParts call;
    call.tally.claimed_units = 2;
    EXPECT_EQ(good_ranges(call.parts, call.tally), (std::vector<ByteRange>{{0, 200}}));
    EXPECT_EQ(good_prefix(call.parts[0], call.tally), 200U);
    EXPECT_EQ(good_prefix(call.parts[1], call.tally), 0U);
}

TEST(Tally, NothingIsGoodWhereAThreadBrokeOffSomewhere) {
    TwoParts call;
    call.tally.broke_off = true;
    EXPECT_TRUE(good_ranges(call.parts, call.tally).empty());
    EXPECT_EQ(good_prefix(call.parts[0], call.tally), 0U);
}

TEST(Tally, WhatATruncationTookIsNotGood) {
    TwoParts call;
    call.fail(1, 30);
    call.parts[0].lost_bytes = 20;
    EXPECT_EQ(good_ranges(call.parts, call.tally), (std::vector<ByteRange>{{0, 130}, {200, 30}, {250, 100}}));
    EXPECT_EQ(good_prefix(call.parts[0], call.tally), 130U);
    call.parts[0].lost_bytes = 140;
    EXPECT_EQ(good_ranges(call.parts, call.tally), (std::vector<ByteRange>{{0, 110}, {250, 100}}));
    EXPECT_EQ(good_prefix(call.parts[0], call.tally), 110U);
    call.parts[0].lost_bytes = 250;
    EXPECT_EQ(good_ranges(call.parts, call.tally), (std::vector<ByteRange>{{250, 100}}));
    EXPECT_EQ(good_prefix(call.parts[1], call.tally), 100U);
}

// Against a map of single bytes, for any set of errors, in any order.
TEST(Tally, GoodRangesAreTheBytesThatArrived) {
    std::mt19937 random(3);
    for (int round = 0; round < 500; ++round) {
        TwoParts call;
        call.tally.claimed_units = random() % 5;
        std::vector<bool> arrived(350, true);
        std::vector<std::uint64_t> units(call.tally.claimed_units);
        std::iota(units.begin(), units.end(), 0);
        std::shuffle(units.begin(), units.end(), random);
        const std::uint64_t starts[] = {0, 100, 200, 250, 350};
        std::fill(arrived.begin() + static_cast<std::ptrdiff_t>(starts[call.tally.claimed_units]), arrived.end(), false);
        for (const std::uint64_t unit : units) {
            const std::uint64_t moved = random() % (starts[unit + 1] - starts[unit]);
            if (random() % 2 == 0) {
                call.fail(unit, moved);
                std::fill(arrived.begin() + static_cast<std::ptrdiff_t>(starts[unit] + moved),
                          arrived.begin() + static_cast<std::ptrdiff_t>(starts[unit + 1]), false);
            }
        }
        std::vector<bool> good(350, false);
        std::uint64_t last_end = 0;
        for (const ByteRange& range : good_ranges(call.parts, call.tally)) {
            EXPECT_TRUE(range.bytes > 0 && (range.offset > last_end || range.offset == 0)) << "ranges that touch are one";
            std::fill_n(good.begin() + static_cast<std::ptrdiff_t>(range.offset), range.bytes, true);
            last_end = range.offset + range.bytes;
        }
        EXPECT_TRUE(good == arrived) << round;
    }
}

TEST(Tally, SumsWhatOutcomesSay) {
    Tally tally;
    Outcome outcome;
    outcome.moved_bytes = 10;
    outcome.calls = 1;
    outcome.cached_bytes = 4;
    outcome.device_bytes = 6;
    outcome.direct_bytes = 6;
    tally.add(outcome);
    outcome.estimated = outcome.direct_refused = true;
    tally.add(outcome);
    tally.add(ThreadTimes{1, 2, 3});
    tally.add(ThreadTimes{10, 20, 30});
    EXPECT_EQ(tally.sum.moved_bytes, 20U);
    EXPECT_EQ(tally.sum.calls, 2U);
    EXPECT_EQ(tally.sum.cached_bytes, 8U);
    EXPECT_EQ(tally.sum.device_bytes, 12U);
    EXPECT_EQ(tally.sum.direct_bytes, 12U);
    EXPECT_TRUE(tally.sum.estimated && tally.sum.direct_refused && tally.broken.empty());
    EXPECT_EQ(tally.times.wait_ns, 33U);
}

}  // namespace
}  // namespace waybill
