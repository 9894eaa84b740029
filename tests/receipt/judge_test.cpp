#include "receipt/judge.hpp"

#include <gtest/gtest.h>

namespace waybill {
namespace {

constexpr std::uint64_t kBytes = 1 << 30;

Evidence with(CufileCounters counts) {
    Evidence evidence;
    evidence.cufile = counts;
    return evidence;
}

TEST(Judge, TheThreeLinesOfTheField) {
    PathJudgement verdict = judge(EngineKind::cufile, Path::nvidia_fs, kBytes, 256, with({256, 256, 0, 0, 0, 0, kBytes}));
    EXPECT_EQ(verdict.path, Path::nvidia_fs);
    EXPECT_EQ(verdict.judgement, Judgement::proved);
    verdict = judge(EngineKind::cufile, Path::nvidia_fs, kBytes, 256, with({256, 0, 0, 256, 0, 0, kBytes}));
    EXPECT_EQ(verdict.path, Path::cufile_posix);
    EXPECT_EQ(verdict.judgement, Judgement::proved);
    EXPECT_NE(verdict.text.find("nvidia-fs was expected"), std::string::npos);
    verdict = judge(EngineKind::staged, Path::staged, kBytes, 256, {});
    EXPECT_EQ(verdict.path, Path::staged);
    EXPECT_EQ(verdict.judgement, Judgement::consistent);
}

TEST(Judge, SilentCountersNeverContradict) {
    const PathJudgement verdict = judge(EngineKind::cufile, Path::nvidia_fs, kBytes, 256, with({}));
    EXPECT_EQ(verdict.judgement, Judgement::consistent);
    EXPECT_EQ(verdict.path, Path::nvidia_fs);
}

TEST(Judge, FewerBytesThanMovedProveNothing) {
    EXPECT_EQ(judge(EngineKind::cufile, Path::nvidia_fs, kBytes, 1, with({1, 1, 0, 0, 0, 0, kBytes - 1})).judgement,
              Judgement::consistent);
}

TEST(Judge, CompanyOnTheSamePathProvesAndOnAnotherLowers) {
    Evidence evidence = with({512, 512, 0, 0, 0, 0, 2 * kBytes});
    evidence.company = true;
    EXPECT_EQ(judge(EngineKind::cufile, Path::nvidia_fs, kBytes, 256, evidence).judgement, Judgement::proved);
    evidence.cufile->nvfs = 500;
    evidence.cufile->posix = 12;
    const PathJudgement verdict = judge(EngineKind::cufile, Path::nvidia_fs, kBytes, 256, evidence);
    EXPECT_EQ(verdict.judgement, Judgement::consistent);
    EXPECT_EQ(verdict.path, Path::mixed);
    EXPECT_EQ(verdict.paths.size(), 2U);
}

TEST(Judge, ALiveCounterOfAnotherPathContradicts) {
    Evidence evidence = with({256, 0, 0, 256, 0, 0, kBytes});
    evidence.nvidia_fs = NvidiaFsCounters{256, kBytes, true};
    EXPECT_EQ(judge(EngineKind::cufile, Path::nvidia_fs, kBytes, 256, evidence).judgement, Judgement::contradicted);
    evidence.nvidia_fs->live = false;
    EXPECT_EQ(judge(EngineKind::cufile, Path::nvidia_fs, kBytes, 256, evidence).judgement, Judgement::proved);
}

TEST(Judge, TheKernelsCountProvesStagingAndHostReads) {
    Evidence evidence;
    evidence.process_io = ProcessIoCounters{kBytes + 100, 0};
    EXPECT_EQ(judge(EngineKind::staged, Path::staged, kBytes, 256, evidence).judgement, Judgement::proved);
    EXPECT_EQ(judge(EngineKind::host, Path::host, kBytes, 256, evidence).judgement, Judgement::proved);
    evidence.process_io->call_bytes = 10;
    EXPECT_EQ(judge(EngineKind::staged, Path::staged, kBytes, 256, evidence).judgement, Judgement::consistent);
    evidence.cufile = CufileCounters{256, 256, 0, 0, 0, 0, kBytes};
    EXPECT_EQ(judge(EngineKind::staged, Path::staged, kBytes, 256, evidence).judgement, Judgement::contradicted);
}

TEST(Judge, NothingMovedIsNoProof) {
    EXPECT_EQ(judge(EngineKind::cufile, Path::nvidia_fs, 0, 0, with({3, 3, 0, 0, 0, 0, 9})).judgement, Judgement::consistent);
}

}  // namespace
}  // namespace waybill
