// Transfer: one call's bytes on their way, shared by the threads that move them, the caller and its Future.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "io/consignment.hpp"
#include "io/tally.hpp"
#include "pool/threads.hpp"

namespace waybill {

struct Transfer final : SharedWork, std::enable_shared_from_this<Transfer> {
    explicit Transfer(Consignment consignment);
    ~Transfer() override;

    // Begins; with `caller_helps` this thread moves bytes too, and the transfer is done when it returns.
    void run(bool caller_helps);

    bool take_part() noexcept override;

    // False in a child that was forked while the transfer was under way: the threads that move its bytes are the parent's, and
    // so are its locks. Nothing below may be called there, not even the destructor.
    [[nodiscard]] bool of_this_process() const noexcept;

    [[nodiscard]] bool done() const noexcept { return done_.load(std::memory_order_acquire); }
    void wait();
    [[nodiscard]] bool wait_for(std::chrono::nanoseconds limit);
    [[nodiscard]] std::uint64_t moved_bytes();  // so far
    [[nodiscard]] const Receipt& result();      // after wait()
    [[nodiscard]] Receipt take_result();        // the same, once: the receipt itself instead of a copy
    // Drops what no thread has claimed; true when that is anything.
    bool cancel();
    int event_descriptor();
    // Lets the memory's owners go, on the thread that collects the result.
    void release_owners() noexcept;

private:
    [[nodiscard]] std::uint32_t threads_wanted() const noexcept;
    bool move_units(bool yields) noexcept;
    bool move_claimed(bool yields);
    // The next units, none when there are no more. `claimed` has room for them.
    void claim(std::vector<Assignment>& claimed) noexcept;
    [[nodiscard]] bool all_claimed() const noexcept { return next_unit_.load() >= total_units_; }
    void record(std::vector<Outcome>& outcomes);
    void fail(Error error, bool started) noexcept;
    enum class Left { comes_back, for_good, last, all_again };  // how a thread left; the last one finishes
    [[nodiscard]] Left leave(bool wants_back) noexcept;
    [[nodiscard]] bool may_stage_instead() const noexcept;
    void stage_instead();
    void offer_rest() noexcept;
    void finish() noexcept;
    void settle();
    void sync();
    void count() noexcept;
    void let_go() noexcept;

    Consignment consignment_;
    std::uint64_t total_units_ = 0;
    std::uint64_t forks_before_ = 0;
    std::optional<EvidenceWindow> window_;

    std::atomic<std::uint64_t> next_unit_{0};
    std::atomic<bool> stop_{false};
    std::atomic<bool> done_{false};

    std::mutex mutex_;
    std::condition_variable changed_;
    std::uint32_t inside_ = 0;         // threads that take part now
    std::uint32_t expected_ = 0;       // threads that take part, now or later
    bool finishing_ = false;
    std::optional<std::uint64_t> dropped_from_;  // the first unit that cancel() dropped
    Tally tally_;
    std::optional<Error> could_not_begin_;  // the first thread that failed before it moved anything
    std::optional<Error> error_;
    std::shared_ptr<Receipt> receipt_;
    Fd event_;
};

// The Error that a failed task stands for.
[[nodiscard]] Error error_of(const Outcome& outcome, const std::string& name, Direction direction);

}  // namespace waybill
