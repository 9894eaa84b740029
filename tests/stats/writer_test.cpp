#include "stats/writer.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "stats/contradictions.hpp"
#include "stats/segments.hpp"
#include "stats/sequence.hpp"

namespace waybill {
namespace {

const std::string kUuid = "0123456789abcdef";

std::unique_ptr<const StatsCufileTotals> totals(std::uint64_t nvfs, std::uint64_t posix, std::uint64_t bytes, std::uint64_t at_ns) {
    auto made = std::make_unique<StatsCufileTotals>();
    StatsCufileTotals& all = *made;
    all.reads.n = nvfs + posix;
    all.reads.nvfs = nvfs;
    all.reads.posix = posix;
    all.reads.bytes = bytes;
    all.looked_ns = at_ns;
    return made;
}

TEST(Writer, ARequestIsCountedUnderItsPlacePathAndDirection) {
    const TestSegment segment = make_segment();
    add_request(*segment, make_receipt(1, Path::staged, 4096, 9'000), false, kUuid, nullptr);
    add_request(*segment, make_receipt(1, Path::staged, 4096, 1'000), false, kUuid, nullptr);
    Receipt write = make_receipt(-1, Path::host, 100, 500);
    write.op = Direction::write;
    add_request(*segment, write, false, {}, nullptr);
    const ProcessStats stats = look_at(segment);
    ASSERT_EQ(stats.paths.size(), 2U);
    EXPECT_EQ(stats.paths[0].device, -1);
    EXPECT_EQ(stats.paths[0].direction, Direction::write);
    EXPECT_EQ(stats.paths[0].moved_bytes, 100U);
    const PathStats& staged = stats.paths[1];
    EXPECT_EQ(staged.path, Path::staged);
    EXPECT_EQ(staged.device, 1);
    EXPECT_EQ(staged.requests, 2U);
    EXPECT_EQ(staged.tasks, 2U);
    EXPECT_EQ(staged.moved_bytes, 8192U);
    EXPECT_EQ(staged.source.page_cache_bytes, 2048U);
    EXPECT_EQ(staged.source.device_bytes, 6144U);
    EXPECT_EQ(staged.latencies.count, 2U);
    EXPECT_EQ(staged.latencies.sum_ns, 10'000U);
    EXPECT_EQ(staged.latencies.max_ns, 9'000U);
    EXPECT_DOUBLE_EQ(staged.life_bytes_per_s, 8192.0);
    ASSERT_EQ(stats.gpus.size(), 1U);
    EXPECT_EQ(stats.gpus[0].name, "NVIDIA H200");
    EXPECT_EQ(stats.gpus[0].uuid, "GPU-30313233-3435-3637-3839-616263646566");
}

TEST(Writer, TheLifeBeginsWhereTheFirstRequestDid) {
    const TestSegment segment = make_segment();
    constexpr std::uint64_t kMs = 1'000'000;
    const std::uint64_t made = now_ns();
    segment->start_ns.store(made);
    segment->start_unix_ns.store(5'000 * kMs);
    const auto age_ms = [&] { return (made - segment->start_ns.load()) / kMs; };
    const auto count = [&](int device, std::uint64_t ns) { add_request(*segment, make_receipt(device, Path::staged, 4096, ns), false, kUuid, nullptr); };
    count(0, 100 * kMs);
    EXPECT_NEAR(static_cast<double>(age_ms()), 100.0, 50.0);
    const std::uint64_t first = segment->start_ns.load();
    count(0, 1 * kMs);
    count(1, 50 * kMs);
    EXPECT_EQ(segment->start_ns.load(), first) << "they began later";
    count(0, 2'000 * kMs);
    EXPECT_NEAR(static_cast<double>(age_ms()), 2'000.0, 500.0) << "it began before the others and ended after them";
    count(1, 4'000 * kMs);
    EXPECT_NEAR(static_cast<double>(age_ms()), 4'000.0, 500.0) << "on another path";
    EXPECT_EQ(made - segment->start_ns.load(), 5'000 * kMs - segment->start_unix_ns.load()) << "both clocks move alike";
}

TEST(Writer, AnErrorCountsWithItsBytesAndWithoutALatency) {
    const TestSegment segment = make_segment();
    add_request(*segment, make_receipt(-1, Path::host, 4096, 9'000), true, {}, nullptr);
    const PathStats path = look_at(segment).paths.at(0);
    EXPECT_EQ(path.requests, 1U);
    EXPECT_EQ(path.errors, 1U);
    EXPECT_EQ(path.moved_bytes, 4096U);
    EXPECT_EQ(path.latencies.count, 0U);
}

TEST(Writer, ARequestOnAGpuPastTheSixteenthIsToldAsNotCounted) {
    const TestSegment segment = make_segment();
    add_request(*segment, make_receipt(16, Path::staged, 4096, 1), false, kUuid, nullptr);
    EXPECT_EQ(look_at(segment).uncounted, 1U);
    EXPECT_TRUE(look_at(segment).paths.empty());
}

TEST(Writer, CufilesCountersStandBesideOursInTheFamiliarLine) {
    const TestSegment segment = make_segment();
    add_request(*segment, make_receipt(0, Path::nvidia_fs, 1 << 20, 1), false, kUuid, totals(256, 0, 1 << 20, 10).get());
    add_request(*segment, make_receipt(0, Path::staged, 4096, 1), false, kUuid, nullptr);
    const ProcessStats stats = look_at(segment);
    EXPECT_EQ(familiar_line(stats, stats.gpus.at(0), Direction::read), "Read: n=257 nvfs=256 p2pdma=0 posix=0 staged=1");
    EXPECT_TRUE(contradictions(stats).empty());
}

TEST(Writer, ALookThatComesLateDoesNotPutCountersBack) {
    const TestSegment segment = make_segment();
    add_request(*segment, make_receipt(0, Path::nvidia_fs, 4096, 1), false, kUuid, totals(2, 0, 8192, 20).get());
    add_request(*segment, make_receipt(0, Path::nvidia_fs, 4096, 1), false, kUuid, totals(1, 0, 4096, 10).get());
    const ProcessStats stats = look_at(segment);
    EXPECT_EQ(stats.gpus.at(0).cufile[0].counters.n, 2U);
    EXPECT_TRUE(contradictions(stats).empty());
}

TEST(Writer, CountersThatBeginAgainContradictNothing) {
    const TestSegment segment = make_segment();
    add_request(*segment, make_receipt(0, Path::nvidia_fs, 1 << 20, 1), false, kUuid, totals(9, 0, 1 << 20, 10).get());
    add_request(*segment, make_receipt(0, Path::cufile_posix, 4096, 1), false, kUuid, totals(0, 1, 4096, 20).get());
    EXPECT_TRUE(contradictions(look_at(segment)).empty());
}

TEST(Contradictions, APathThatLiveCountersNeverCountedIsOne) {
    const TestSegment segment = make_segment();
    add_request(*segment, make_receipt(0, Path::nvidia_fs, 4096, 1), false, kUuid, totals(0, 5, 1 << 20, 10).get());
    const auto found = contradictions(look_at(segment));
    ASSERT_EQ(found.size(), 1U);
    EXPECT_NE(found[0].find("nvidia-fs"), std::string::npos) << found[0];
}

TEST(Contradictions, FewerBytesThanWeMovedAreOne) {
    const TestSegment segment = make_segment();
    add_request(*segment, make_receipt(0, Path::nvidia_fs, 4096, 1), false, kUuid, totals(1, 0, 100, 10).get());
    EXPECT_EQ(contradictions(look_at(segment)).size(), 1U);
}

TEST(Contradictions, SilentCountersNeverContradict) {
    const TestSegment segment = make_segment();
    add_request(*segment, make_receipt(0, Path::nvidia_fs, 4096, 1), false, kUuid, totals(0, 0, 0, 10).get());
    EXPECT_TRUE(contradictions(look_at(segment)).empty());
}

TEST(Contradictions, AContradictedReceiptIsOne) {
    const TestSegment segment = make_segment();
    Receipt receipt = make_receipt(0, Path::staged, 4096, 1);
    receipt.judgement = Judgement::contradicted;
    add_request(*segment, receipt, false, kUuid, nullptr);
    EXPECT_EQ(contradictions(look_at(segment)).size(), 1U);
}

// Every request adds the same to several fields: a row of mixed moments would show.
TEST(Writer, AReaderSeesWholeRowsWhileThreadsWrite) {
    const TestSegment segment = make_segment();
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (int k = 0; k < 3; ++k) {
        threads.emplace_back([&] {
            const Receipt receipt = make_receipt(0, Path::nvidia_fs, 4096, 1000);
            for (std::uint64_t turn = 1; !stop; ++turn) {
                add_request(*segment, receipt, false, kUuid, totals(turn, 0, turn * 1'000'000, turn).get());
            }
        });
    }
    int looks = 0;
    for (int k = 0; k < 3000; ++k) {
        const ProcessStats stats = look_at(segment);
        for (const PathStats& path : stats.paths) {
            if (path.settled) {
                ++looks;
                ASSERT_EQ(path.moved_bytes, path.requests * 4096);
                ASSERT_EQ(path.latencies.count, path.requests);
                ASSERT_EQ(path.latencies.sum_ns, path.requests * 1000);
            }
        }
    }
    stop = true;
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_GT(looks, 0);
    const PathStats path = look_at(segment).paths.at(0);
    EXPECT_EQ(path.latencies.count, path.requests);
}

TEST(Reader, ARowThatNeverStandsStillIsToldAsSuch) {
    const TestSegment segment = make_segment();
    add_request(*segment, make_receipt(-1, Path::host, 1, 1), false, {}, nullptr);
    segment->rows[stats_row(-1, Path::host, Direction::read)].sequence.fetch_add(1);  // its writer was stopped in the middle
    EXPECT_FALSE(look_at(segment).paths.at(0).settled);
}

}  // namespace
}  // namespace waybill
