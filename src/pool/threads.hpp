// Threads: a process-wide set of workers that stays warm and helps whoever has work.
//
// Work is offered as tickets: a ticket lets one worker take part in it until it has nothing left to claim, or until others
// wait. FIFO. Workers are never joined: a thread that is stuck in the kernel must not hold up the end of the process.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>

namespace waybill {

// Something that several threads can take part in at once.
class SharedWork {
public:
    virtual ~SharedWork() = default;
    // Claims and does parts. Returns true when it stopped early for others and wants another turn. Never throws.
    virtual bool take_part() noexcept = 0;
};

class Threads {
public:
    [[nodiscard]] static Threads& instance();

    // Workers that may be there for many small requests, whatever each of them asks for.
    static constexpr std::uint32_t kUsual = 8;

    // Offers `tickets` turns, growing the set to at most `most_workers` while there is more work than idle workers.
    // Throws std::system_error or std::bad_alloc when not even one thread can be started.
    void offer(const std::shared_ptr<SharedWork>& work, std::uint32_t tickets, std::uint32_t most_workers);

    // True when other work waits for a worker.
    [[nodiscard]] bool others_wait() const noexcept { return waiting_.load(std::memory_order_relaxed) != 0; }

private:
    void run();

    std::mutex mutex_;
    std::condition_variable offered_;
    std::deque<std::shared_ptr<SharedWork>> queue_;
    std::atomic<std::uint32_t> waiting_{0};
    std::uint32_t workers_ = 0;
    std::uint32_t idle_ = 0;
    std::uint32_t spinning_ = 0;  // of the idle ones, those that look for work without sleeping
};

}  // namespace waybill
