// Slots: pinned host memory that bytes pass through on their way to and from a GPU.
//
// One pool a process, grown on demand up to a limit and kept warm. A slot is huge-page memory where the system gives it,
// registered with CUDA for every context (portable). Where memory cannot be pinned the pool goes on with what it has, in
// the end with one pageable slot, and says so. Thread-safe.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "gpu/cuda.hpp"

namespace waybill {

struct Slot {
    std::byte* memory = nullptr;   // page-aligned
    std::size_t size_bytes = 0;    // what a caller may read in one go
    bool pinned = false;
    bool makeshift = false;        // pageable where pinned memory was wanted: not kept when it comes back
    [[nodiscard]] explicit operator bool() const noexcept { return memory != nullptr; }
};

// Beyond size_bytes every slot has room to widen a read to the alignment of direct I/O, at both ends together.
inline constexpr std::size_t kSlotSlackBytes = 128 * 1024;

class SlotPool {
public:
    // The process's pool; a new one in a forked child, whose inherited slots are not mapped.
    [[nodiscard]] static SlotPool& instance();

    // A slot of at least `size_bytes`. Waits while others hold all that `limit_bytes` allows, unless the caller would be
    // the first: one slot can always be had. Where no pinned memory is wanted `api` is null.
    // Throws Error out_of_memory only when not even one pageable slot can be had.
    [[nodiscard]] Slot take(std::size_t size_bytes, std::uint64_t limit_bytes, const CudaApi* api);
    // The same without waiting: an empty slot when none can be had at once.
    [[nodiscard]] Slot try_take(std::size_t size_bytes, std::uint64_t limit_bytes, const CudaApi* api);
    void give_back(Slot slot) noexcept;
    // Frees the slots that nobody holds; returns their bytes.
    std::uint64_t free_unused() noexcept;

    [[nodiscard]] std::uint64_t held_bytes() const;   // in use or free
    [[nodiscard]] std::uint64_t refusals() const;     // times that memory could not be pinned
    [[nodiscard]] static std::uint64_t pin_ns() noexcept;  // spent in pinning so far, all threads

private:
    Slot make(std::size_t size_bytes, const CudaApi* api);
    std::byte* take_space(std::size_t mapped_bytes);
    void free_spaces() noexcept;
    Slot take_free(std::size_t size_bytes, bool pinned);
    // A slot; or none, and how many returns there had been when it could not be had.
    struct Attempt {
        Slot slot;
        std::uint64_t returns = 0;
        bool alone = false;  // nobody else held a slot: there is nothing to wait for
    };
    Attempt attempt(std::size_t size_bytes, std::uint64_t limit_bytes, const CudaApi* api);
    Attempt give_up(Slot slot, std::size_t size_bytes);
    void free_memory(const Slot& slot) noexcept;

    mutable std::mutex mutex_;
    std::condition_variable given_back_;
    std::vector<Slot> free_;
    std::uint64_t total_bytes_ = 0;
    std::uint64_t in_use_ = 0;  // slots
    std::uint64_t returns_ = 0;  // slots and reservations given back
    std::uint64_t refusals_ = 0;

    std::mutex spaces_mutex_;
    std::byte* spaces_ = nullptr;  // mapped and not yet a slot's
    std::size_t spaces_left_ = 0;
    std::size_t spaces_bytes_ = 0;  // of each
};

// A slot for as long as it lives.
class SlotLease {
public:
    SlotLease() noexcept = default;
    explicit SlotLease(Slot slot) noexcept : slot_(slot) {}
    SlotLease(SlotLease&& other) noexcept : slot_(other.slot_) { other.slot_ = {}; }
    SlotLease& operator=(SlotLease&& other) noexcept {
        if (this != &other) {
            reset();
            slot_ = other.slot_;
            other.slot_ = {};
        }
        return *this;
    }
    SlotLease(const SlotLease&) = delete;
    SlotLease& operator=(const SlotLease&) = delete;
    ~SlotLease() { reset(); }
    void reset() noexcept {
        if (slot_) {
            SlotPool::instance().give_back(slot_);
            slot_ = {};
        }
    }
    [[nodiscard]] const Slot& operator*() const noexcept { return slot_; }
    [[nodiscard]] const Slot* operator->() const noexcept { return &slot_; }
    [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(slot_); }

private:
    Slot slot_;
};

}  // namespace waybill
