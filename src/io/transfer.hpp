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

#include "engine/engine.hpp"
#include "evidence/window.hpp"
#include "io/descriptors.hpp"
#include "io/units.hpp"
#include "pool/threads.hpp"
#include "waybill/receipt.hpp"
#include "waybill/request.hpp"

namespace waybill {

// One request of a transfer.
struct Part {
    std::shared_ptr<Descriptors> descriptors;
    std::shared_ptr<const std::string> name;
    Work work;
    std::uint64_t asked_bytes = 0;
    std::uint64_t size_bytes = 0;    // what there is of it
    std::uint64_t first_unit = 0;
    Units units{0, 1, 1};
};

// What set-up has cost this process so far; differences tell what one request was the first to need.
struct SetupCosts {
    std::uint64_t cuda_init_ns = 0;
    std::uint64_t context_ns = 0;
    std::uint64_t pin_ns = 0;
    std::uint64_t cufile_open_ns = 0;
    std::uint64_t pin_refusals = 0;  // times that memory could not be pinned
    [[nodiscard]] static SetupCosts now();
};

// All that is decided before the first byte moves.
struct Consignment {
    std::shared_ptr<const Settings> settings;
    std::shared_ptr<const Route> route;
    Plan plan;
    Direction direction = Direction::read;
    Require require = Require::none;
    Lading lading;
    Destination destination;
    std::vector<Part> parts;
    std::vector<std::shared_ptr<void>> owners;  // of the memory
    std::uint64_t threads = 1;
    std::uint64_t open_ns = 0;
    std::uint64_t start_ns = 0;
    SetupCosts setup_before;
    CountersWanted counters;
    std::string gpu_uuid;
    std::optional<Residency> residency;
    std::vector<std::string> notes;
    bool many = false;
    bool sync = false;
};

struct Transfer final : SharedWork, std::enable_shared_from_this<Transfer> {
    explicit Transfer(Consignment consignment);
    ~Transfer() override;

    // Begins; with `caller_helps` this thread moves bytes too, and the transfer is done when it returns.
    void run(bool caller_helps);

    bool take_part() noexcept override;

    [[nodiscard]] bool done() const noexcept { return done_.load(std::memory_order_acquire); }
    void wait();
    [[nodiscard]] bool wait_for(std::chrono::nanoseconds limit);
    [[nodiscard]] const Receipt& result();  // after wait()
    bool cancel();
    int event_descriptor();
    // Lets the memory's owners go, on the thread that collects the result.
    void release_owners() noexcept;

private:
    bool move_units(bool yields) noexcept;
    [[nodiscard]] std::optional<Assignment> claim() noexcept;
    void record(std::vector<Outcome>& outcomes);
    void fail(Error error, bool started) noexcept;
    void finish() noexcept;
    [[nodiscard]] bool may_restage() const noexcept;
    void restage();
    void lay_out_units() noexcept;
    void settle();
    void count() noexcept;
    void check_requirement();
    Receipt make_receipt(const Evidence& evidence) const;
    void add_good_ranges(Receipt& receipt) const;
    void add_results(Receipt& receipt) const;
    [[nodiscard]] const Part& part_of(std::uint64_t unit) const noexcept;
    [[nodiscard]] std::uint64_t request_offset(const Outcome& outcome) const noexcept;

    Consignment consignment_;
    std::uint64_t total_units_ = 0;
    std::optional<EvidenceWindow> window_;

    std::atomic<std::uint64_t> next_unit_{0};
    std::atomic<bool> stop_{false};
    std::atomic<bool> done_{false};

    std::mutex mutex_;
    std::condition_variable changed_;
    std::uint32_t inside_ = 0;         // threads that take part now
    std::uint32_t expected_ = 0;       // threads that take part, now or later
    bool finishing_ = false;
    bool cancelled_ = false;
    Outcome sum_;                      // of all outcomes
    std::vector<Outcome> broken_;      // outcomes that moved less than their task
    std::uint32_t helpers_ = 0;        // threads that moved bytes
    ThreadTimes times_;
    std::optional<Error> could_not_begin_;  // the first thread that failed before it moved anything
    bool broke_off_ = false;           // a thread failed with units in its hands
    std::optional<Error> error_;
    std::shared_ptr<const Receipt> receipt_;
    Fd event_;
};

// The Error that a failed task stands for.
[[nodiscard]] Error error_of(const Outcome& outcome, const std::string& name, Direction direction);

}  // namespace waybill
