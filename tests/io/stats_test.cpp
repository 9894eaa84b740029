// What requests of all kinds add to their process's statistics, over the stand-ins.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <thread>

#include "child.hpp"
#include "stats/contradictions.hpp"
#include "stats/processes.hpp"
#include "waybill/waybill.hpp"

namespace waybill {
namespace {

constexpr std::uint64_t kBytes = 1 << 20;

struct Sample {
    Sample() {
        char text[] = "/tmp/waybill_stats_XXXXXX";
        const int fd = ::mkstemp(text);
        name = text;
        EXPECT_EQ(::ftruncate(fd, kBytes), 0);
        ::close(fd);
    }
    ~Sample() { std::filesystem::remove(name); }
    std::string name;
};

ProcessStats own_stats() { return StatsView::of_process(::getpid()).look(); }

Request request_for(const Buffer& buffer) {
    Request request;
    request.target = {buffer.data(), buffer.size_bytes(), {}, false};
    return request;
}

// Runs `read`, which throws Error, in a child; then `look` at what the child counted.
template <class Read, class Look>
int in_child_after_an_error(Read read, Look look) {
    return in_child([&] {
        try {
            read();
            return 2;
        } catch (const Error&) {
        }
        return look(own_stats()) ? 7 : 3;
    });
}

TEST(Stats, ARequestThatFailsBeforeAByteMovesIsCountedAsRefused) {
    const Sample sample;
    EXPECT_EQ(in_child_after_an_error(
                  [&] {
                      const Buffer buffer = Buffer::on_host(4096);
                      Request request = request_for(buffer);
                      request.file_offset = 2 * kBytes;
                      (void)File::open(sample.name).read(request);
                  },
                  [](const ProcessStats& stats) { return stats.refused[0] == 1 && stats.paths.empty(); }),
              7);
}

TEST(Stats, ARequestThatFailsUnderWayIsAnErrorOfItsPath) {
    const Sample sample;
    EXPECT_EQ(in_child_after_an_error(
                  [&] {
                      ::setenv("FAKE_CUFILE_READ_ERROR", "5012", 1);
                      const Buffer buffer = Buffer::on_gpu(0, kBytes);
                      (void)File::open(sample.name, Mode::read, {{{"compat_mode", "off"}}, {}}).read(request_for(buffer));
                  },
                  [](const ProcessStats& stats) {
                      return stats.paths.size() == 1 && stats.paths[0].requests == 1 && stats.paths[0].errors == 1 &&
                             stats.paths[0].latencies.count == 0 && stats.paths[0].moved_bytes == 0;
                  }),
              7);
}

TEST(Stats, AReadThroughCufileCarriesCufilesOwnCounters) {
    const Sample sample;
    EXPECT_EQ(in_child([&] {
                  const Buffer buffer = Buffer::on_gpu(0, kBytes);
                  const File file = File::open(sample.name, Mode::read, {{{"compat_mode", "off"}, {"task_size", "64K"}}, {}});
                  (void)file.read(request_for(buffer));
                  (void)file.read(request_for(buffer));
                  const ProcessStats stats = own_stats();
                  const GpuStats& gpu = stats.gpus.at(0);
                  return stats.paths.size() == 1 && stats.paths[0].path == Path::nvidia_fs && stats.paths[0].tasks == 32 && gpu.looked &&
                                 gpu.cufile[0].counters.nvfs == 32 && gpu.cufile[0].our_nvfs_bytes == 2 * kBytes &&
                                 contradictions(stats).empty()
                             ? 7
                             : 1;
              }),
              7);
}

TEST(Stats, ManyRequestsInOneCallAreOne) {
    const Sample sample;
    EXPECT_EQ(in_child([&] {
                  const Buffer buffer = Buffer::on_host(4096);
                  const std::vector<Request> requests(3, [&] {
                      Request request = request_for(buffer);
                      request.size_bytes = 1000;
                      return request;
                  }());
                  (void)File::open(sample.name).read_many(requests);
                  const PathStats path = own_stats().paths.at(0);
                  return path.requests == 1 && path.moved_bytes == 3000 ? 7 : 1;
              }),
              7);
}

TEST(Stats, ThreadsThatBeginTogetherShareOneSegment) {
    const Sample sample;
    EXPECT_EQ(in_child([&] {
                  std::vector<std::thread> threads;
                  for (int k = 0; k < 8; ++k) {
                      threads.emplace_back([&] {
                          const Buffer buffer = Buffer::on_host(4096);
                          (void)File::open(sample.name).read(request_for(buffer));
                      });
                  }
                  for (std::thread& thread : threads) {
                      thread.join();
                  }
                  int segments = 0;
                  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
                      std::error_code ignored;
                      segments += std::filesystem::read_symlink(entry, ignored).string().find(kStatsName) != std::string::npos ? 1 : 0;
                  }
                  return segments == 1 && own_stats().paths.at(0).requests == 8 ? 7 : 1;
              }),
              7);
}

TEST(Stats, OffCountsNothingAndMakesNoSegment) {
    const Sample sample;
    EXPECT_EQ(in_child_after_an_error(
                  [&] {
                      const Buffer buffer = Buffer::on_host(4096);
                      (void)File::open(sample.name, Mode::read, {{{"stats", "off"}}, {}}).read(request_for(buffer));
                      (void)own_stats();
                  },
                  [](const ProcessStats&) { return false; }),
              99);  // own_stats throws again: there is none
}

}  // namespace
}  // namespace waybill
