#include "gpu/statistics_segment.hpp"

#include <gtest/gtest.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <unistd.h>

namespace waybill {
namespace {

// A segment under this process's number, as libcufile makes one.
class StatisticsSegment : public ::testing::Test {
protected:
    void SetUp() override {
        segment_ = ::shmget(::getpid(), 4096, IPC_CREAT | IPC_EXCL | 0600);
        if (segment_ < 0) {
            GTEST_SKIP() << "no System V shared memory here";
        }
    }
    void TearDown() override { ::shmctl(segment_, IPC_RMID, nullptr); }
    [[nodiscard]] static bool is_there() { return ::shmget(::getpid(), 0, 0) >= 0; }

    int segment_ = -1;
};

TEST_F(StatisticsSegment, OneThatADeadProcessLeftIsRemoved) {
    EXPECT_EQ(clear_statistics_segment(), "");
    EXPECT_FALSE(is_there());
    EXPECT_EQ(clear_statistics_segment(), "");
}

TEST_F(StatisticsSegment, OneInUseByThisProcessStays) {
    void* attached = ::shmat(segment_, nullptr, 0);
    ASSERT_NE(attached, reinterpret_cast<void*>(-1));
    EXPECT_EQ(clear_statistics_segment(), "");
    EXPECT_TRUE(is_there());
    ::shmdt(attached);
}

}  // namespace
}  // namespace waybill
