#include "io/transfer.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/clock.hpp"
#include "base/forks.hpp"
#include "base/spin.hpp"
#include "io/open_file.hpp"
#include "io/receipt_log.hpp"
#include "io/sizing.hpp"
#include "io/transfer_receipt.hpp"
#include "io/truncation.hpp"
#include "route/fallback.hpp"
#include "stats/writer.hpp"

namespace waybill {
namespace {

// A part in a long transfer is left for others after this many claims, so that small requests get their turn.
constexpr std::uint32_t kClaimsPerTurn = 8;

}  // namespace

Transfer::Transfer(Consignment consignment)
    : consignment_(std::move(consignment)), total_units_(lay_out_units(consignment_.parts)), forks_before_(forks_so_far()) {}

Transfer::~Transfer() {
    let_go();
}

bool Transfer::of_this_process() const noexcept {
    return forks_before_ == forks_so_far();
}

void Transfer::run(bool caller_helps) {
    window_.emplace(consignment_.counters, consignment_.gpu_uuid, machine_root(*consignment_.settings));
    if (total_units_ == 0) {
        finish();
        return;
    }
    const std::uint32_t wanted = threads_wanted();
    const std::uint32_t tickets = caller_helps ? wanted - 1 : wanted;
    const bool spin = consignment_.lading.spin;  // others may plan anew once they are asked for help
    expected_ = wanted;
    if (tickets != 0) {
        try {
            Threads::instance().offer(shared_from_this(), tickets, std::max<std::uint32_t>(wanted, Threads::kUsual));
        } catch (const std::exception&) {
            caller_helps = true;  // no thread can be had: the caller moves all of it
            expected_ = 1;
        }
    }
    if (caller_helps) {
        move_units(false);
        if (spin) {
            (void)spin_until([this] { return done(); });
        }
        wait();
    }
}

std::uint32_t Transfer::threads_wanted() const noexcept {
    const std::uint64_t claims = (total_units_ - 1) / consignment_.units_per_claim + 1;
    return static_cast<std::uint32_t>(std::min(consignment_.threads, claims));
}

bool Transfer::take_part() noexcept {
    return move_units(true);
}

void Transfer::claim(std::vector<Assignment>& claimed) noexcept {
    claimed.clear();
    if (stop_.load(std::memory_order_relaxed)) {
        return;
    }
    const std::uint64_t first = next_unit_.fetch_add(consignment_.units_per_claim, std::memory_order_relaxed);
    if (first >= total_units_) {
        return;
    }
    const std::uint64_t end = first + std::min(consignment_.units_per_claim, total_units_ - first);
    const Part* part = &part_of(consignment_.parts, first);
    for (std::uint64_t unit = first; unit < end; ++unit) {
        while (unit - part->first_unit >= part->units.count()) {
            ++part;
        }
        claimed.push_back({&part->work, part->units.at(unit - part->first_unit)});
    }
}

// One thread's part in the transfer. Returns true when it left early for others.
bool Transfer::move_units(bool yields) noexcept {
    while (true) {
        {
            const std::lock_guard lock(mutex_);
            if (finishing_) {
                return false;
            }
            // Bytes that cuFile dropped are staged by fewer: of the threads that it was to have, one may come only now.
            if (inside_ >= consignment_.threads) {
                --expected_;
                return false;
            }
            ++inside_;
        }
        switch (leave(move_claimed(yields))) {
            case Left::comes_back: return true;
            case Left::for_good: return false;
            case Left::last: finish(); return false;
            case Left::all_again: offer_rest(); break;
        }
    }
}

// Returns true when it left units for others and wants another turn.
bool Transfer::move_claimed(bool yields) {
    bool started = false;
    try {
        const CurrentContext current(consignment_.lading.owner.context);
        std::optional<RelaxedCapture> relaxed;
        if (consignment_.lading.owner.context != nullptr) {
            relaxed.emplace(*cuda_if_loaded());
        }
        const std::unique_ptr<Engine> engine =
            make_engine(consignment_.route->engine, consignment_.direction, consignment_.lading);
        std::vector<Outcome> outcomes;
        std::vector<Assignment> claimed;
        claimed.reserve(consignment_.units_per_claim);
        std::uint32_t claims = 0;
        bool more = false;
        for (claim(claimed); !claimed.empty(); claim(claimed)) {
            started = true;
            engine->submit(claimed);
            engine->reap(outcomes, false);
            record(outcomes);
            if (++claims % kClaimsPerTurn == 0 && yields && Threads::instance().others_wait()) {
                more = true;
                break;
            }
        }
        engine->reap(outcomes, true);
        record(outcomes);
        const std::lock_guard lock(mutex_);
        tally_.threads += claims != 0 ? 1 : 0;
        tally_.add(engine->times());
        return more;
    } catch (const Error& error) {
        fail(error, started);
    } catch (const std::exception& problem) {
        fail(Error(ErrorCode::out_of_memory, std::string("moving bytes failed: ") + problem.what()), started);
    }
    return false;
}

Transfer::Left Transfer::leave(bool wants_back) noexcept {
    const std::lock_guard lock(mutex_);
    --inside_;
    const bool comes_back = wants_back && !stop_.load();
    if (!comes_back && --expected_ == 0 && !error_ && could_not_begin_ && !all_claimed()) {
        error_ = std::move(could_not_begin_);
        stop_.store(true);
    }
    if (inside_ != 0 || finishing_ || !(stop_.load() || all_claimed())) {
        return comes_back ? Left::comes_back : Left::for_good;
    }
    if (may_stage_instead()) {
        try {
            stage_instead();
            return Left::all_again;
        } catch (const std::exception& problem) {
            error_.emplace(ErrorCode::out_of_memory, std::string("staging the bytes instead failed: ") + problem.what());
        }
    }
    finishing_ = true;
    return Left::last;
}

// Under `auto` a cuFile that fails in the middle is no reason to fail (a regression of nvidia-fs 2.25.6 fails every read with
// EFAULT): all bytes are staged instead, and the receipt says why. Under the mutex, with no thread inside.
bool Transfer::may_stage_instead() const noexcept {
    return !error_ && !dropped_from_ && may_fall_back(*consignment_.route, *consignment_.settings, consignment_.require) &&
           std::any_of(tally_.broken.begin(), tally_.broken.end(), [](const Outcome& outcome) {
               using Kind = Failure::Kind;
               const Kind kind = outcome.failure.kind;
               return kind == Kind::cufile || kind == Kind::cufile_system || kind == Kind::nothing_written;
           });
}

void Transfer::stage_instead() {
    const Outcome& broken = tally_.earliest_broken(consignment_.parts);
    const Error why = error_of(broken, *part_of(consignment_.parts, broken.assignment).file->name, consignment_.direction);
    consignment_.route = std::make_shared<const Route>(fall_back(*consignment_.route, {"cufile-failed", why.what()}));
    plan_parts(consignment_, machine_facts(*consignment_.settings));
    total_units_ = lay_out_units(consignment_.parts);
    tally_.broken.clear();
    tally_.sum = {};
    tally_.threads = 0;
    next_unit_.store(0);
    stop_.store(false);
    ++expected_;  // this thread; offer_rest() adds others
}

// The others have left when it turned out that all is to be done again.
void Transfer::offer_rest() noexcept {
    const std::uint32_t wanted = threads_wanted();
    if (wanted < 2) {
        return;
    }
    try {
        {
            const std::lock_guard lock(mutex_);
            expected_ += wanted - 1;
        }
        Threads::instance().offer(shared_from_this(), wanted - 1, std::max<std::uint32_t>(wanted, Threads::kUsual));
    } catch (const std::exception&) {  // this thread moves all of it
        const std::lock_guard lock(mutex_);
        expected_ -= wanted - 1;
    }
}

void Transfer::record(std::vector<Outcome>& outcomes) {
    if (outcomes.empty()) {
        return;
    }
    const std::lock_guard lock(mutex_);
    for (const Outcome& outcome : outcomes) {
        if (outcome.failure) {
            stop_.store(true);
        }
        tally_.add(outcome);
    }
    outcomes.clear();
}

// A thread that could not begin is no loss while others move bytes; the last of them to leave makes it the transfer's error.
void Transfer::fail(Error error, bool started) noexcept {
    const std::lock_guard lock(mutex_);
    if (!started) {
        if (!could_not_begin_) {
            could_not_begin_.emplace(std::move(error));
        }
        return;
    }
    if (!error_) {
        error_.emplace(std::move(error));
    }
    tally_.broke_off = true;
    stop_.store(true);
}

void Transfer::finish() noexcept {
    try {
        settle();
    } catch (const std::exception& problem) {
        if (!error_) {
            error_.emplace(ErrorCode::internal, std::string("making the receipt failed: ") + problem.what());
        }
    }
    let_go();
    const std::lock_guard lock(mutex_);
    finishing_ = true;
    done_.store(true, std::memory_order_release);
    if (event_) {
        const std::uint64_t one = 1;
        [[maybe_unused]] const ssize_t written = ::write(event_.get(), &one, sizeof one);
    }
    // Under the mutex: a waiter may destroy this object as soon as it sees done.
    changed_.notify_all();
}

// Files that were closed meanwhile close now, not when the last thread has looked at its ticket.
void Transfer::let_go() noexcept {
    for (PartFile& file : consignment_.files) {
        file.descriptors.reset();
    }
    if (const CudaApi* api = consignment_.lading.after.empty() ? nullptr : cuda_if_loaded()) {
        for (const CuEvent event : consignment_.lading.after) {
            api->event_destroy(event);
        }
    }
    consignment_.lading.after.clear();
}

// Closes the books: evidence, receipt, and the error if there was one. No thread moves bytes any more.
void Transfer::settle() {
    const std::vector<Part>& parts = consignment_.parts;
    tally_.claimed_units = dropped_from_.value_or(std::min(next_unit_.load(), total_units_));
    if (!tally_.broken.empty() && !error_) {
        const Outcome& broken = tally_.earliest_broken(parts);
        error_ = error_of(broken, *part_of(parts, broken.assignment).file->name, consignment_.direction);
    }
    if (std::optional<Error> truncated = note_truncations(consignment_); truncated && !error_) {
        error_ = std::move(truncated);
    }
    if (dropped_from_ && !error_) {
        error_.emplace(ErrorCode::cancelled, "the request was cancelled before all of it had started");
    }
    if (consignment_.sync && !error_) {
        sync();
    }
    const Evidence evidence = window_->close(consignment_.direction);
    auto receipt = std::make_shared<Receipt>(make_receipt(consignment_, tally_, evidence));
    if (error_) {
        add_error(*receipt, *error_, consignment_, tally_);
    } else {
        error_ = requirement_error(consignment_, *receipt);
    }
    receipt_ = receipt;
    if (error_) {
        error_ = error_->with_receipt(receipt_);
    }
    count();
    log_receipt(*consignment_.settings, *receipt_);
}

// All bytes were accepted. After a failure the kernel takes them for written: a later fsync that succeeds says nothing of them.
void Transfer::sync() {
    for (const PartFile& file : consignment_.files) {
        if (const std::optional<Error> problem = file.descriptors->sync(*file.name)) {
            error_ = problem->with_advice("all of the request's bytes were accepted, but not made durable: write them again");
            consignment_.notes.emplace_back("the bytes were accepted, but not made durable: fsync failed (" + problem->native().name + ")");
            return;
        }
    }
}

// Into this process's statistics.
void Transfer::count() noexcept {
    if (!consignment_.settings->stats.value) {
        return;
    }
    // No empty totals are made for a request without: to zero them was measured to take longer than to count.
    if (const auto& look = window_->cufile_after()) {
        const StatsCufileTotals totals{look->counts.reads, look->counts.writes, look->at_ns};
        count_request(*receipt_, error_.has_value(), consignment_.gpu_uuid, &totals);
    } else {
        count_request(*receipt_, error_.has_value(), consignment_.gpu_uuid, nullptr);
    }
}

void Transfer::wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return done(); });
}

bool Transfer::wait_for(std::chrono::nanoseconds limit) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::min(limit, kLongestWait), [this] { return done(); });
}

std::uint64_t Transfer::moved_bytes() {
    const std::lock_guard lock(mutex_);
    return tally_.sum.moved_bytes;
}

const Receipt& Transfer::result() {
    release_owners();
    if (error_) {
        throw *error_;
    }
    return *receipt_;
}

Receipt Transfer::take_result() {
    (void)result();
    return std::move(*receipt_);
}

bool Transfer::cancel() {
    {
        const std::lock_guard lock(mutex_);
        if (finishing_ || done()) {
            return false;
        }
        // In one step with the claims of others, so that the answer is what happens.
        if (const std::uint64_t next = next_unit_.exchange(total_units_); next < total_units_) {
            dropped_from_ = next;
        }
        stop_.store(true);
        if (!dropped_from_ || inside_ != 0) {
            return dropped_from_.has_value();
        }
        finishing_ = true;
    }
    finish();
    return true;
}

int Transfer::event_descriptor() {
    const std::lock_guard lock(mutex_);
    if (!event_) {
        event_ = Fd(::eventfd(done() ? 1 : 0, EFD_CLOEXEC | EFD_NONBLOCK));
        if (!event_) {
            throw Error(ErrorCode::io_error, "no descriptor for an event can be had", native_errno(errno));
        }
    }
    return event_.get();
}

void Transfer::release_owners() noexcept {
    std::vector<std::shared_ptr<void>> owners;
    {
        const std::lock_guard lock(mutex_);
        owners.swap(consignment_.owners);
    }
}

}  // namespace waybill
