#include "pool/slots.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <iterator>

#include "base/clock.hpp"
#include "base/forks.hpp"
#include "base/page.hpp"

namespace waybill {
namespace {

constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;

std::atomic<std::uint64_t> pin_time_ns{0};
ForkLocal<SlotPool> the_pool;

std::size_t round_up(std::size_t size_bytes, std::size_t unit) noexcept {
    return (size_bytes + unit - 1) / unit * unit;
}

// Slots follow one another without gaps, so that the slack of one is no huge page of its own: bringing pages in is what a process's
// first read waits for.
std::size_t mapped_bytes(std::size_t size_bytes) noexcept {
    return round_up(size_bytes + kSlotSlackBytes, std::max<std::size_t>(page_bytes(), kSlotSlackBytes));
}

// Address space for so many slots is asked for at once: mappings are made one at a time in a process, and each would wait for the
// pages that other threads bring in meanwhile.
constexpr std::size_t kSlotsPerMapping = 8;

// Address space for `size_bytes`, aligned to a huge page so that the kernel can back it with them; it falls back to small pages by
// itself. Null when there is none.
std::byte* map_memory(std::size_t size_bytes) noexcept {
    const std::size_t room = size_bytes + kHugePageBytes;
    void* mapping = ::mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping == MAP_FAILED) {
        return nullptr;
    }
    auto* const first = static_cast<std::byte*>(mapping);
    const auto address = reinterpret_cast<std::uintptr_t>(first);
    const std::size_t lead = (kHugePageBytes - address % kHugePageBytes) % kHugePageBytes;
    if (lead != 0) {
        ::munmap(first, lead);
    }
    std::byte* const memory = first + lead;
    if (kHugePageBytes - lead != 0) {
        ::munmap(memory + size_bytes, kHugePageBytes - lead);
    }
    ::madvise(memory, size_bytes, MADV_HUGEPAGE);
    // A forked child must neither copy nor share what a device writes to.
    ::madvise(memory, size_bytes, MADV_DONTFORK);
    return memory;
}

// The pages are brought in by the threads that want slots, at the same time. Left to the driver it is done under its lock, one slot
// after the other: most of a process's first read (docs/measurements).
void populate(std::byte* memory, std::size_t size_bytes) noexcept {
    constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE, Linux 5.14
    if (::madvise(memory, size_bytes, kPopulateWrite) == 0) {
        return;
    }
    for (std::size_t at = 0; at < size_bytes; at += page_bytes()) {
        *const_cast<volatile std::byte*>(memory + at) = std::byte{0};
    }
}

}  // namespace

SlotPool& SlotPool::instance() {
    return the_pool.get();
}

std::uint64_t SlotPool::pin_ns() noexcept {
    return pin_time_ns.load(std::memory_order_relaxed);
}

Slot SlotPool::make(std::size_t size_bytes, const CudaApi* api) {
    const std::uint64_t start = now_ns();
    Slot slot;
    slot.memory = take_space(mapped_bytes(size_bytes));
    slot.size_bytes = size_bytes;
    if (slot && api != nullptr) {
        populate(slot.memory, size_bytes + kSlotSlackBytes);
        slot.pinned = api->host_register(slot.memory, size_bytes + kSlotSlackBytes, kHostPortable) == kCudaSuccess;
    }
    pin_time_ns += now_ns() - start;
    return slot;
}

// Address space of a slot: of what was mapped for several, or a mapping of its own.
std::byte* SlotPool::take_space(std::size_t mapped_bytes) {
    const std::lock_guard lock(spaces_mutex_);
    if (spaces_bytes_ != mapped_bytes) {
        free_spaces();
        spaces_bytes_ = mapped_bytes;
    }
    if (spaces_ == nullptr) {
        spaces_ = map_memory(mapped_bytes * kSlotsPerMapping);
        if (spaces_ == nullptr) {
            return map_memory(mapped_bytes);
        }
        spaces_left_ = kSlotsPerMapping;
    }
    std::byte* const space = spaces_;
    spaces_ = --spaces_left_ == 0 ? nullptr : spaces_ + mapped_bytes;
    return space;
}

void SlotPool::free_spaces() noexcept {
    if (spaces_ != nullptr) {
        ::munmap(spaces_, spaces_left_ * spaces_bytes_);
        spaces_ = nullptr;
        spaces_left_ = 0;
    }
}

// Under the mutex. Slots that are too small are not used, nor pageable ones where pinned memory is wanted; they stay for others.
Slot SlotPool::take_free(std::size_t size_bytes, bool pinned) {
    for (auto slot = free_.rbegin(); slot != free_.rend(); ++slot) {
        if (slot->size_bytes >= size_bytes && (slot->pinned || !pinned)) {
            const Slot taken = *slot;
            free_.erase(std::next(slot).base());
            ++in_use_;
            return taken;
        }
    }
    return {};
}

SlotPool::Attempt SlotPool::attempt(std::size_t size_bytes, std::uint64_t limit_bytes, const CudaApi* api) {
    {
        const std::lock_guard lock(mutex_);
        if (const Slot slot = take_free(size_bytes, api != nullptr)) {
            return {slot};
        }
        while (total_bytes_ + size_bytes > limit_bytes && !free_.empty()) {
            // Room is held by slots that do not fit: replace them.
            free_memory(free_.back());
            total_bytes_ -= free_.back().size_bytes;
            free_.pop_back();
        }
        if (total_bytes_ + size_bytes > limit_bytes && in_use_ != 0) {
            return {{}, returns_};
        }
        total_bytes_ += size_bytes;  // reserved while it is made outside the lock
        ++in_use_;
    }
    Slot slot = make(size_bytes, api);
    if (slot && (slot.pinned || api == nullptr)) {
        return {slot};
    }
    return give_up(slot, size_bytes);
}

// The end of an attempt that found no memory, or none that can be pinned.
SlotPool::Attempt SlotPool::give_up(Slot slot, std::size_t size_bytes) {
    Attempt attempt;
    {
        const std::lock_guard lock(mutex_);
        ++refusals_;
        if (slot && in_use_ == 1) {
            slot.makeshift = true;
            return {slot};  // the last resort: pageable memory, which the driver stages by itself
        }
        --in_use_;
        total_bytes_ -= size_bytes;
        attempt.returns = ++returns_;  // others may wait for what was reserved here
        attempt.alone = in_use_ == 0;
    }
    given_back_.notify_all();
    if (slot) {
        free_memory(slot);
    }
    return attempt;
}

Slot SlotPool::try_take(std::size_t size_bytes, std::uint64_t limit_bytes, const CudaApi* api) {
    return attempt(size_bytes, limit_bytes, api).slot;
}

Slot SlotPool::take(std::size_t size_bytes, std::uint64_t limit_bytes, const CudaApi* api) {
    while (true) {
        const Attempt tried = attempt(size_bytes, limit_bytes, api);
        if (tried.slot) {
            return tried.slot;
        }
        if (tried.alone) {
            throw Error(ErrorCode::out_of_memory, "no memory for one slot of " + std::to_string(size_bytes) +
                                                      " bytes; set bounce_buffer_size lower or free memory");
        }
        std::unique_lock lock(mutex_);
        given_back_.wait(lock, [&] { return returns_ != tried.returns; });
    }
}

void SlotPool::give_back(Slot slot) noexcept {
    {
        const std::lock_guard lock(mutex_);
        --in_use_;
        ++returns_;
        if (!slot.makeshift) {
            try {
                free_.push_back(slot);
                slot = {};
            } catch (...) {  // no memory for the list: let the slot go
            }
        }
        if (slot) {
            total_bytes_ -= slot.size_bytes;
        }
    }
    if (slot) {
        free_memory(slot);
    }
    given_back_.notify_all();
}

std::uint64_t SlotPool::free_unused() noexcept {
    std::vector<Slot> unused;
    std::uint64_t bytes = 0;
    {
        const std::lock_guard lock(mutex_);
        unused.swap(free_);
        for (const Slot& slot : unused) {
            bytes += slot.size_bytes;
        }
        total_bytes_ -= bytes;
    }
    for (const Slot& slot : unused) {
        free_memory(slot);
    }
    return bytes;
}

void SlotPool::free_memory(const Slot& slot) noexcept {
    if (slot.pinned) {
        if (const CudaApi* api = cuda_if_loaded()) {
            api->host_unregister(slot.memory);
        }
    }
    ::munmap(slot.memory, mapped_bytes(slot.size_bytes));
}

std::uint64_t SlotPool::held_bytes() const {
    const std::lock_guard lock(mutex_);
    return total_bytes_;
}

std::uint64_t SlotPool::refusals() const {
    const std::lock_guard lock(mutex_);
    return refusals_;
}

}  // namespace waybill
