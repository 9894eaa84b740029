// Futures: time, cancelling, closing, and what a fork inherits.
#include "waybill/future.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <vector>

#include "child.hpp"
#include "sanitizers.hpp"
#include "waybill/waybill.hpp"

namespace waybill {
namespace {

constexpr std::uint64_t kBytes = 64 << 20;

class Futures : public ::testing::Test {
protected:
    Futures() : memory_(kBytes) {
        char name[] = "/tmp/waybill_future_XXXXXX";
        const int fd = ::mkstemp(name);
        path_ = name;
        EXPECT_EQ(::ftruncate(fd, kBytes), 0);
        ::close(fd);
    }
    ~Futures() override { ::unlink(path_.c_str()); }
    [[nodiscard]] Request whole() {
        Request request;
        request.target = {memory_.data(), memory_.size(), {}, false};
        return request;
    }
    [[nodiscard]] File open(const char* threads = "1") const {
        return File::open(path_, Mode::read, {{{"num_threads", threads}, {"bounce_buffer_size", "64K"}}, {}});
    }
    static std::ptrdiff_t descriptors() {
        return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
    }
    std::string path_;
    std::vector<std::byte> memory_;
};

TEST_F(Futures, WaitAsLongAsAnyoneCanName) {
    const Future future = open().pread(whole());
    EXPECT_TRUE(future.wait_for(std::chrono::nanoseconds::max()));
    EXPECT_TRUE(future.done());
    EXPECT_TRUE(future.wait_for(std::chrono::nanoseconds::min()));
}

TEST_F(Futures, TellHowManyBytesHaveArrived) {
    const Future future = open().pread(whole());
    std::uint64_t before = 0;
    while (!future.wait_for(std::chrono::microseconds(100))) {
        const std::uint64_t now = future.moved_bytes();
        EXPECT_GE(now, before);
        EXPECT_LE(now, kBytes);
        before = now;
    }
    EXPECT_EQ(future.moved_bytes(), kBytes);
}

// What cancel() answers is what happens, whenever it comes.
TEST_F(Futures, CancelTellsWhetherAnythingWasDropped) {
    int dropped = 0;
    for (int k = 0; k < 200; ++k) {
        const File file = open("3");
        const Future future = file.pread(whole());
        ::usleep(static_cast<useconds_t>(k * 40));
        const bool some = future.cancel();
        try {
            EXPECT_EQ(future.get().moved_bytes, kBytes);
            EXPECT_FALSE(some);
        } catch (const Error& error) {
            EXPECT_TRUE(some);
            ++dropped;
            EXPECT_EQ(error.code(), ErrorCode::cancelled);
            ASSERT_TRUE(error.receipt());
            EXPECT_LT(error.receipt()->moved_bytes, kBytes);
        }
        EXPECT_TRUE(future.done());
    }
    EXPECT_GT(dropped, 0);
}

TEST_F(Futures, AClosedFilesDescriptorsAreGoneWhenItsLastRequestIsDone) {
    (void)open("4").pread(whole()).get();
    const auto before = descriptors();
    for (int k = 0; k < 20; ++k) {
        File file = open("4");
        const Future future = file.pread(whole());
        file.close();
        future.wait();
        ASSERT_EQ(descriptors(), before) << k;
    }
}

TEST_F(Futures, KeepTheMemorysOwnerUntilItsResultIsCollected) {
    auto owner = std::make_shared<int>(1);
    Request request = whole();
    request.target.owner = owner;
    const Future future = open().pread(request);
    request.target.owner.reset();
    future.wait();
    EXPECT_EQ(owner.use_count(), 2);
    (void)future.get();
    EXPECT_EQ(owner.use_count(), 1);
}

TEST_F(Futures, OfTheParentAreDroppedByAChildAndOtherwiseRefused) {
    if (!kChildrenMayAllocate) {
        GTEST_SKIP() << kWhyChildrenMayNotAllocate;
    }
    for (int k = 0; k < 5; ++k) {
        const File file = open("2");
        std::vector<Future> futures;
        for (int each = 0; each < 10; ++each) {
            futures.push_back(file.pread(whole()));
        }
        EXPECT_EQ(in_child([&] {
                      int refused = 0;
                      for (const Future& future : futures) {
                          try {
                              (void)future.get();
                          } catch (const Error& error) {
                              refused += error.code() == ErrorCode::invalid_argument ? 1 : 0;
                          }
                      }
                      futures.back().detach();
                      futures.front() = Future();
                      futures.clear();
                      return refused == 10 ? 7 : 1;
                  }, std::chrono::seconds(8)), 7);
        for (const Future& future : futures) {
            (void)future.cancel();
        }
    }
}

}  // namespace
}  // namespace waybill
