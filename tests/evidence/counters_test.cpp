#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "evidence/cufile_counters.hpp"
#include "evidence/nvidia_fs_stats.hpp"
#include "evidence/process_io.hpp"

namespace waybill {
namespace {

std::vector<std::byte> statistics_of(std::size_t level1_bytes, const std::string& uuid, std::uint32_t gpus) {
    std::vector<std::byte> statistics(64 * 1024);
    std::byte* const place = statistics.data() + level1_bytes + 512;
    std::memcpy(place, &gpus, sizeof gpus);
    std::byte* row = place + 8 + 248;  // the second row
    std::memcpy(row, uuid.data(), 16);
    for (std::uint64_t k = 0; k < 29; ++k) {
        const std::uint64_t value = 1000 + k;
        std::memcpy(row + 16 + 8 * k, &value, 8);
    }
    return statistics;
}

TEST(CufileCounters, AreReadByTheVersionsLayout) {
    const std::string uuid(16, 'u');
    for (const auto& [version, level1] : {std::pair{1150, 512U}, std::pair{1180, 512U}, std::pair{1190, 624U}, std::pair{1200, 624U}}) {
        const auto counts = decode_cufile_counters(statistics_of(level1, uuid, 2), version, uuid);
        ASSERT_TRUE(counts);
        EXPECT_EQ(counts->reads, (CufileCounters{1004, 1006, 1005, 1007, 1008, 1012, 1000}));
        EXPECT_EQ(counts->writes, (CufileCounters{1017, 1019, 1018, 1020, 1021, 1023, 1013}));
    }
}

TEST(CufileCounters, AGpuWithoutARowHasCountedNothing) {
    const auto counts = decode_cufile_counters(statistics_of(512, std::string(16, 'u'), 2), 1150, std::string(16, 'v'));
    ASSERT_TRUE(counts);
    EXPECT_EQ(counts->reads, CufileCounters{});
}

TEST(CufileCounters, WhatCannotBeTheLayoutIsNoEvidence) {
    const std::string uuid(16, 'u');
    EXPECT_FALSE(decode_cufile_counters(statistics_of(512, uuid, 17), 1150, uuid));
    EXPECT_FALSE(decode_cufile_counters(statistics_of(512, uuid, 2), 0, uuid));
    EXPECT_FALSE(decode_cufile_counters({}, 1150, uuid));
    EXPECT_FALSE(decode_cufile_counters(statistics_of(512, uuid, 2), 1150, "short"));
}

constexpr const char* kStats =
    "GDS Version: 1.15.0.42\nNVFS statistics(ver: 4.0)\nNVFS Driver(version: 2.27.3)\n"
    "IO stats: Enabled, peer IO stats: Disabled\nActive Process: 1\n"
    "Reads\t\t\t\t: n=256 ok=256 err=0 readMiB=1024 io_state_err=0\nReads\t\t\t\t: Bandwidth(MiB/s)=1 Avg-Latency(usec)=2\n"
    "Writes\t\t\t\t: n=3 ok=3 err=0 writeMiB=12 io_state_err=0 pg-cache=0\n";

TEST(NvidiaFsStats, AreCountedAndLiveWhenEnabled) {
    const NvidiaFsCounts counts = parse_nvidia_fs_stats(kStats);
    EXPECT_EQ(counts.reads, (NvidiaFsCounters{256, 1024ULL << 20, true}));
    EXPECT_EQ(counts.writes, (NvidiaFsCounters{3, 12ULL << 20, true}));
}

TEST(NvidiaFsStats, AreNotLiveWhenOffOrSilent) {
    EXPECT_FALSE(parse_nvidia_fs_stats("IO stats: Disabled\nReads : n=5 readMiB=1\n").reads.live);
    EXPECT_FALSE(parse_nvidia_fs_stats("IO stats: Enabled\nReads : n=0 readMiB=0\n").reads.live);
    EXPECT_EQ(parse_nvidia_fs_stats("\n\nReads n=\xff 7\nnonsense").reads.operations, 0U);
}

TEST(ProcessIo, CountsWhatThisProcessReads) {
    const auto before = read_process_io();
    ASSERT_TRUE(before);
    char buffer[4096];
    const int fds[2] = {-1, -1};
    (void)fds;
    FILE* const file = std::fopen("/proc/self/exe", "r");
    ASSERT_NE(file, nullptr);
    std::setvbuf(file, nullptr, _IONBF, 0);
    ASSERT_EQ(std::fread(buffer, 1, sizeof buffer, file), sizeof buffer);
    std::fclose(file);
    const auto after = read_process_io();
    EXPECT_GE(after->reads.call_bytes, before->reads.call_bytes + sizeof buffer);
}

TEST(ProcessIo, OddTextIsNoHarm) {
    EXPECT_EQ(parse_process_io("rchar 5\nrchar: x\n: 7\nwchar:12").writes.call_bytes, 12U);
}

}  // namespace
}  // namespace waybill
