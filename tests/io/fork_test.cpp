// A child that is forked while threads of its parent read must be able to read itself.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "child.hpp"
#include "sanitizers.hpp"
#include "waybill/waybill.hpp"

namespace waybill {
namespace {

constexpr std::size_t kBytes = 4096;

void read_some(const File& file) {
    std::vector<std::byte> memory(kBytes);
    Request request;
    request.target = {memory.data(), memory.size(), {}, false};
    (void)file.read(request);
}

TEST(Fork, AChildReadsThoughThreadsOfItsParentWereReading) {
    if (!kChildrenMayAllocate) {
        GTEST_SKIP() << kWhyChildrenMayNotAllocate;
    }
    char name[] = "/tmp/waybill_fork_XXXXXX";
    const int fd = ::mkstemp(name);
    ASSERT_EQ(::ftruncate(fd, 1 << 20), 0);
    ::close(fd);
    const std::string path = name;
    const File shared = File::open(path);
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (int k = 0; k < 3; ++k) {
        threads.emplace_back([&, k] {
            while (!stop) {
                if (k == 0) {
                    read_some(File::open(path));
                } else {
                    read_some(shared);
                }
            }
        });
    }
    int failed = 0;
    for (int k = 0; k < 300 && failed == 0; ++k) {
        failed += in_child([&] {
                      read_some(File::open(path));
                      read_some(shared);  // a file that the parent's threads use
                      return 7;
                  }) == 7
                      ? 0
                      : 1;
    }
    stop = true;
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(failed, 0);
    ::unlink(name);
}

// The first request of a process gathers what is kept for all later ones; a fork may come in the middle of that.
TEST(Fork, AChildReadsThoughItsParentWasAtItsFirstRead) {
    if (!kChildrenMayAllocate) {
        GTEST_SKIP() << kWhyChildrenMayNotAllocate;
    }
    char name[] = "/tmp/waybill_fork_XXXXXX";
    const int fd = ::mkstemp(name);
    ASSERT_EQ(::ftruncate(fd, 1 << 20), 0);
    ::close(fd);
    const std::string path = name;
    int failed = 0;
    for (int k = 0; k < 60; ++k) {
        failed += in_child([&] {
                      std::thread first([&] { read_some(File::open(path)); });
                      ::usleep(static_cast<useconds_t>(k * 50));
                      const int status = in_child([&] {
                          read_some(File::open(path));
                          return 7;
                      }, std::chrono::seconds(8));
                      first.join();
                      return status;
                  }) == 7
                      ? 0
                      : 1;
    }
    EXPECT_EQ(failed, 0);
    ::unlink(name);
}

}  // namespace
}  // namespace waybill
