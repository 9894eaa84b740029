#include "receipt/join.hpp"

#include <gtest/gtest.h>

#include "settings/resolve.hpp"

namespace waybill {
namespace {

constexpr std::uint64_t kPart = 32 << 20;

Receipt part(EngineKind engine, Path path, std::uint64_t bytes) {
    Receipt receipt;
    receipt.op = Direction::write;
    receipt.file = std::make_shared<const std::string>("out.bin");
    receipt.asked_bytes = receipt.moved_bytes = bytes;
    receipt.engine = engine;
    receipt.path = path;
    receipt.paths = {{path, bytes, 8}};
    receipt.tasks = {8, 4 << 20, 4 << 20};
    receipt.pieces = Shares{1, 4 << 20, 4 << 20};
    receipt.pieces_total = 8;
    receipt.threads = 4;
    receipt.times.total_ns = 1000;
    receipt.times.open_ns = 10;
    Route route;
    route.engine = engine;
    route.expected_path = path;
    receipt.route = std::make_shared<const Route>(route);
    receipt.judgement = Judgement::proved;
    receipt.judgement_text = "counted";
    return receipt;
}

Receipt counted_by_kernel(std::uint64_t bytes) {
    Receipt receipt = part(EngineKind::host, Path::host, bytes);
    receipt.evidence.process_io = ProcessIoCounters{bytes + 100, 0};
    return receipt;
}

TEST(JoinReceipts, BytesTasksAndTimesAreTotals) {
    Receipt whole = counted_by_kernel(kPart);
    Receipt last = counted_by_kernel(5 << 20);
    last.tasks = {2, 4 << 20, 1 << 20};
    last.threads = 2;
    last.notes = {"memory could not be pinned"};
    join(whole, last);
    join(whole, last);
    EXPECT_EQ(whole.moved_bytes, kPart + (10 << 20));
    EXPECT_EQ(whole.asked_bytes, whole.moved_bytes);
    EXPECT_FALSE(whole.is_short);
    EXPECT_TRUE(whole.good.empty());
    EXPECT_EQ(whole.tasks, (Shares{12, 4 << 20, 1 << 20}));
    EXPECT_FALSE(whole.pieces);
    EXPECT_FALSE(whole.pieces_total);
    EXPECT_EQ(whole.threads, 4U);
    EXPECT_EQ(whole.times.total_ns, 3000U);
    EXPECT_EQ(whole.times.open_ns, 30U);
    EXPECT_EQ(whole.notes, std::vector<std::string>{"memory could not be pinned"});
}

TEST(JoinReceipts, TheTotalsAreJudgedByTheTotalsOfTheCounters) {
    Receipt whole = counted_by_kernel(kPart);
    join(whole, counted_by_kernel(kPart));
    EXPECT_EQ(whole.judgement, Judgement::proved);
    ASSERT_EQ(whole.paths.size(), 1U);
    EXPECT_EQ(whole.paths[0].bytes, 2 * kPart);
    EXPECT_EQ(whole.paths[0].count, 16U);
    EXPECT_EQ(whole.evidence.process_io->call_bytes, 2 * kPart + 200);
    join(whole, part(EngineKind::host, Path::host, kPart));  // no counter was looked at
    EXPECT_FALSE(whole.evidence.process_io);
    EXPECT_EQ(whole.judgement, Judgement::consistent);
}

TEST(JoinReceipts, OneWriteOnAnotherPathMakesItMixed) {
    const auto by_cufile = [](std::uint64_t nvfs, std::uint64_t posix) {
        Receipt receipt = part(EngineKind::cufile, nvfs != 0 ? Path::nvidia_fs : Path::cufile_posix, kPart);
        receipt.evidence.cufile = CufileCounters{8, nvfs, 0, posix, 0, 0, kPart};
        return receipt;
    };
    Receipt whole = by_cufile(8, 0);
    join(whole, by_cufile(8, 0));
    EXPECT_EQ(whole.path, Path::nvidia_fs);
    EXPECT_EQ(whole.judgement, Judgement::proved);
    join(whole, by_cufile(0, 8));
    EXPECT_EQ(whole.path, Path::mixed);
    EXPECT_EQ(whole.judgement, Judgement::consistent);
}

TEST(JoinReceipts, AWriteThatFellBackMakesItMixedForGood) {
    Receipt whole = part(EngineKind::cufile, Path::nvidia_fs, kPart);
    Receipt staged = part(EngineKind::staged, Path::staged, kPart);
    staged.judgement = Judgement::consistent;
    staged.judgement_text = "no counter";
    join(whole, staged);
    join(whole, part(EngineKind::cufile, Path::nvidia_fs, kPart));
    EXPECT_EQ(whole.path, Path::mixed);
    EXPECT_EQ(whole.judgement, Judgement::consistent);
    EXPECT_EQ(whole.judgement_text, "no counter");
    ASSERT_EQ(whole.paths.size(), 2U);
    EXPECT_EQ(whole.paths[0].bytes, 2 * kPart);
    EXPECT_EQ(whole.paths[1].bytes, kPart);
}

TEST(JoinReceipts, GoodRangesAreCountedFromTheFirstByte) {
    Receipt whole = counted_by_kernel(kPart);
    Receipt failed = counted_by_kernel(100);
    failed.asked_bytes = 1000;
    failed.is_short = true;
    failed.short_reason = "disk-full";
    failed.good = {{0, 100}, {500, 200}};
    join(whole, failed);
    EXPECT_EQ(whole.good, (std::vector<ByteRange>{{0, kPart + 100}, {kPart + 500, 200}}));
    EXPECT_EQ(whole.moved_bytes, kPart + 100);
    EXPECT_EQ(whole.asked_bytes, kPart + 1000);
    EXPECT_TRUE(whole.is_short);
    EXPECT_EQ(whole.short_reason, "disk-full");
    Receipt later = counted_by_kernel(kPart);
    failed.good = {{500, 200}};
    failed.moved_bytes = 0;
    join(later, failed);
    EXPECT_EQ(later.good, (std::vector<ByteRange>{{0, kPart}, {kPart + 500, 200}}));
}

TEST(JoinReceipts, AnErrorOfTheSourceLeavesWhatWasWritten) {
    Receipt whole = counted_by_kernel(kPart);
    end_by_error(whole, Error(ErrorCode::io_error, "the source failed"), 3 * kPart);
    EXPECT_TRUE(whole.is_short);
    EXPECT_EQ(whole.asked_bytes, 3 * kPart);
    EXPECT_EQ(whole.short_reason, "io-error");
    EXPECT_EQ(whole.good, (std::vector<ByteRange>{{0, kPart}}));
}

}  // namespace
}  // namespace waybill
