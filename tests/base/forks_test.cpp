#include "base/forks.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "base/library.hpp"
#include "child.hpp"

namespace waybill {
namespace {

using std::chrono::milliseconds;

TEST(ForkHold, AChildNeverInheritsALockedMutexOfASection) {
    std::mutex mutex;
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (int k = 0; k < 3; ++k) {
        threads.emplace_back([&] {
            while (!stop) {
                const ForkHold hold;
                const std::lock_guard lock(mutex);
            }
        });
    }
    int hung = 0;
    for (int k = 0; k < 100 && hung == 0; ++k) {
        hung += in_child([&] {
                    const ForkHold hold;
                    const ForkHold nested;
                    const std::lock_guard lock(mutex);
                    return 7;
                }, milliseconds(5000)) == 7
                    ? 0
                    : 1;
    }
    stop = true;
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(hung, 0);
}

// The lock of the loader under which objects are counted is not freed in a child (glibc 2.36).
TEST(ForkHold, TheLoaderCanBeAskedInAChild) {
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (int k = 0; k < 3; ++k) {
        threads.emplace_back([&] {
            while (!stop) {
                (void)loaded_objects();
            }
        });
    }
    int hung = 0;
    for (int k = 0; k < 200 && hung == 0; ++k) {
        hung += in_child([] { return loaded_objects() != 0 ? 7 : 1; }, milliseconds(5000)) == 7 ? 0 : 1;
    }
    stop = true;
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(hung, 0);
}

TEST(ForkHold, AForkDoesNotWaitForEverForASectionThatHangs) {
    std::atomic<bool> inside{false};
    std::atomic<bool> stop{false};
    std::thread stuck([&] {
        const ForkHold hold;
        inside = true;
        while (!stop) {
            ::usleep(1000);
        }
    });
    while (!inside) {
        ::usleep(100);
    }
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(in_child([] {
                  const ForkHold hold;
                  return 7;
              }), 7);
    EXPECT_LT(std::chrono::steady_clock::now() - start, milliseconds(5000));
    stop = true;
    stuck.join();
}

TEST(ForkHold, AForkInsideASectionLeavesBothProcessesInOrder) {
    const auto fork_again = [] {
        return in_child([] {
            const ForkHold hold;
            return 7;
        });
    };
    {
        const ForkHold hold;
        EXPECT_EQ(in_child(fork_again), 7);
    }
    EXPECT_EQ(fork_again(), 7);
}

TEST(ForkLocal, IsAFreshObjectInAChild) {
    static ForkLocal<std::atomic<int>> local;
    local.get() = 5;
    EXPECT_EQ(in_child([] { return local.get().load(); }), 0);
    EXPECT_EQ(local.get(), 5);
}

}  // namespace
}  // namespace waybill
