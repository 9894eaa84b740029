// The pool of slots where memory or pinning fails. mmap is wrapped at link time.
#include "pool/slots.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <future>
#include <memory>
#include <thread>
#include <vector>

namespace {

// What mappings do: true lets one be made.
std::atomic<bool (*)()> may_map{nullptr};

}  // namespace

extern "C" void* __real_mmap(void* address, std::size_t size, int protection, int flags, int fd, off_t offset);
extern "C" void* __wrap_mmap(void* address, std::size_t size, int protection, int flags, int fd, off_t offset) {
    bool (*const asked)() = may_map.load();
    return asked == nullptr || asked() ? __real_mmap(address, size, protection, flags, fd, offset) : MAP_FAILED;
}

namespace waybill {
namespace {

using std::chrono::milliseconds;
constexpr std::size_t kSlotBytes = 1 << 20;

// What a thread's take() came to; the thread is left behind if it never returns.
std::future<ErrorCode> take_in_thread(SlotPool& pool, std::uint64_t limit_bytes, const CudaApi* api = nullptr) {
    std::promise<ErrorCode> promise;
    std::future<ErrorCode> taken = promise.get_future();
    std::thread([&pool, limit_bytes, api, promise = std::move(promise)]() mutable {
        try {
            pool.give_back(pool.take(kSlotBytes, limit_bytes, api));
            promise.set_value(ErrorCode::internal);  // stands for none
        } catch (const Error& error) {
            promise.set_value(error.code());
        }
    }).detach();
    return taken;
}

class Slots : public ::testing::Test {
protected:
    ~Slots() override { may_map = nullptr; }
    // Pools outlive a thread that hangs.
    static SlotPool& new_pool() {
        static auto& pools = *new std::vector<std::unique_ptr<SlotPool>>();
        return *pools.emplace_back(std::make_unique<SlotPool>());
    }
    SlotPool& pool_ = new_pool();
};

TEST_F(Slots, FreeingLeavesWhatIsInUse) {
    const Slot held = pool_.take(kSlotBytes, 4 * kSlotBytes, nullptr);
    pool_.give_back(pool_.take(2 * kSlotBytes, 4 * kSlotBytes, nullptr));
    EXPECT_EQ(pool_.free_unused(), 2 * kSlotBytes);
    EXPECT_EQ(pool_.held_bytes(), kSlotBytes);
    EXPECT_EQ(pool_.free_unused(), 0U);
    held.memory[kSlotBytes - 1] = std::byte{1};
    pool_.give_back(held);
    EXPECT_EQ(pool_.free_unused(), kSlotBytes);
    EXPECT_EQ(pool_.held_bytes(), 0U);
}

// Slots of one mapping follow one another, each whole and on a page of its own.
TEST_F(Slots, NeighboursDoNotOverlap) {
    std::vector<Slot> slots;
    for (int k = 0; k < 12; ++k) {  // more than one mapping holds
        slots.push_back(pool_.take(kSlotBytes + 1, 1 << 30, nullptr));
        std::memset(slots.back().memory, k + 1, kSlotBytes + 1 + kSlotSlackBytes);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(slots.back().memory) % kSlotSlackBytes, 0U);
    }
    for (int k = 0; k < 12; ++k) {
        EXPECT_EQ(slots[k].memory[0], std::byte(k + 1));
        EXPECT_EQ(slots[k].memory[kSlotBytes + kSlotSlackBytes], std::byte(k + 1));
    }
    for (const Slot& slot : slots) {
        pool_.give_back(slot);
    }
    pool_.free_unused();
    EXPECT_EQ(pool_.held_bytes(), 0U);
}

TEST_F(Slots, AWaiterIsWokenByAReservationThatFails) {
    static std::atomic<bool> entered;
    static std::atomic<bool> go_on;
    static std::atomic<int> failures;  // for several slots, then for one
    entered = false;
    go_on = false;
    failures = 2;
    may_map = [] {
        entered = true;
        while (!go_on) {
            std::this_thread::sleep_for(milliseconds(1));
        }
        if (--failures == 0) {
            may_map = nullptr;  // these fail, later ones do not
        }
        return false;
    };
    std::future<ErrorCode> first = take_in_thread(pool_, kSlotBytes);
    while (!entered) {
        std::this_thread::sleep_for(milliseconds(1));
    }
    std::future<ErrorCode> second = take_in_thread(pool_, kSlotBytes);  // all is reserved: it waits
    std::this_thread::sleep_for(milliseconds(100));
    go_on = true;
    ASSERT_EQ(second.wait_for(std::chrono::seconds(10)), std::future_status::ready) << "it waits for ever";
    EXPECT_EQ(second.get(), ErrorCode::internal);
    EXPECT_EQ(first.get(), ErrorCode::out_of_memory);
}

TEST_F(Slots, NobodyWaitsWhereNoMemoryIsToBeHad) {
    may_map = [] { return false; };
    for (int round = 0; round < 50; ++round) {
        std::vector<std::future<ErrorCode>> all;
        for (int k = 0; k < 6; ++k) {
            all.push_back(take_in_thread(pool_, k % 2 == 0 ? kSlotBytes : 100 * kSlotBytes));
        }
        for (std::future<ErrorCode>& one : all) {
            ASSERT_EQ(one.wait_for(std::chrono::seconds(10)), std::future_status::ready);
            EXPECT_EQ(one.get(), ErrorCode::out_of_memory);
        }
    }
    EXPECT_EQ(pool_.held_bytes(), 0U);
}

// A driver that pins, or does not.
CudaApi driver(bool pins) {
    CudaApi api{};
    api.host_register = pins ? [](void*, std::size_t, unsigned) { return kCudaSuccess; }
                             : [](void*, std::size_t, unsigned) { return kCudaOutOfMemory; };
    api.host_unregister = [](void*) { return kCudaSuccess; };
    return api;
}

TEST_F(Slots, OneOfTheHostIsNotGivenToAGpu) {
    const CudaApi api = driver(true);
    const Slot host = pool_.take(kSlotBytes, 100 * kSlotBytes, nullptr);
    EXPECT_FALSE(host.pinned);
    pool_.give_back(host);
    const Slot pinned = pool_.take(kSlotBytes, 100 * kSlotBytes, &api);
    EXPECT_TRUE(pinned.pinned);
    EXPECT_NE(pinned.memory, host.memory);
    // Each is kept warm for its own kind.
    EXPECT_EQ(pool_.take(kSlotBytes, 100 * kSlotBytes, nullptr).memory, host.memory);
    pool_.give_back(pinned);
    EXPECT_EQ(pool_.take(kSlotBytes, 100 * kSlotBytes, &api).memory, pinned.memory);
}

TEST_F(Slots, IdleOnesOfTheHostMakeRoomForPinnedOnes) {
    const CudaApi api = driver(true);
    pool_.give_back(pool_.take(kSlotBytes, kSlotBytes, nullptr));
    EXPECT_TRUE(pool_.take(kSlotBytes, kSlotBytes, &api).pinned);
    EXPECT_EQ(pool_.held_bytes(), kSlotBytes);
}

TEST_F(Slots, OneOfPageableMemoryIsTheLastResortAndIsNotKept) {
    const CudaApi api = driver(false);
    const Slot slot = pool_.take(kSlotBytes, 100 * kSlotBytes, &api);
    EXPECT_TRUE(slot);
    EXPECT_FALSE(slot.pinned);
    EXPECT_FALSE(pool_.try_take(kSlotBytes, 100 * kSlotBytes, &api)) << "more of it would only be slower";
    std::future<ErrorCode> waiter = take_in_thread(pool_, 100 * kSlotBytes, &api);
    EXPECT_EQ(waiter.wait_for(milliseconds(50)), std::future_status::timeout);
    pool_.give_back(slot);
    ASSERT_EQ(waiter.wait_for(std::chrono::seconds(10)), std::future_status::ready);
    EXPECT_EQ(waiter.get(), ErrorCode::internal);
    EXPECT_EQ(pool_.held_bytes(), 0U);
}

}  // namespace
}  // namespace waybill
