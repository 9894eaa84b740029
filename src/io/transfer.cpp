#include "io/transfer.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/clock.hpp"
#include "io/open_file.hpp"
#include "io/receipt_log.hpp"
#include "pool/slots.hpp"
#include "receipt/judge.hpp"
#include "route/requirement.hpp"
#include "stats/writer.hpp"

namespace waybill {
namespace {

// A part in a long transfer is left for others after this many units, so that small requests get their turn.
constexpr std::uint32_t kUnitsPerTurn = 8;

void add(Outcome& sum, const Outcome& outcome) noexcept {
    sum.moved_bytes += outcome.moved_bytes;
    sum.calls += outcome.calls;
    sum.cached_bytes += outcome.cached_bytes;
    sum.device_bytes += outcome.device_bytes;
    sum.unknown_bytes += outcome.unknown_bytes;
    sum.direct_bytes += outcome.direct_bytes;
    sum.estimated = sum.estimated || outcome.estimated;
}

}  // namespace

SetupCosts SetupCosts::now() {
    return {::waybill::cuda_init_ns(), ::waybill::context_ns(), SlotPool::pin_ns(), ::waybill::cufile_open_ns(),
            SlotPool::instance().refusals()};
}

Transfer::Transfer(Consignment consignment) : consignment_(std::move(consignment)) {
    lay_out_units();
}

void Transfer::lay_out_units() noexcept {
    total_units_ = 0;
    for (Part& part : consignment_.parts) {
        part.first_unit = total_units_;
        total_units_ += part.units.count();
    }
}

Transfer::~Transfer() {
    if (consignment_.lading.after != nullptr) {
        if (const CudaApi* api = cuda_if_loaded()) {
            api->event_destroy(consignment_.lading.after);
        }
    }
}

void Transfer::run(bool caller_helps) {
    window_.emplace(consignment_.counters, consignment_.gpu_uuid, machine_root(*consignment_.settings));
    if (total_units_ == 0) {
        finish();
        return;
    }
    const auto wanted = static_cast<std::uint32_t>(std::min<std::uint64_t>(consignment_.threads, total_units_));
    const std::uint32_t tickets = caller_helps ? wanted - 1 : wanted;
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
        wait();
    }
}

bool Transfer::take_part() noexcept {
    return move_units(true);
}

const Part& Transfer::part_of(std::uint64_t unit) const noexcept {
    const auto after = std::upper_bound(consignment_.parts.begin(), consignment_.parts.end(), unit,
                                        [](std::uint64_t wanted, const Part& part) { return wanted < part.first_unit; });
    return *std::prev(after);
}

std::optional<Assignment> Transfer::claim() noexcept {
    if (stop_.load(std::memory_order_relaxed)) {
        return std::nullopt;
    }
    const std::uint64_t unit = next_unit_.fetch_add(1, std::memory_order_relaxed);
    if (unit >= total_units_) {
        return std::nullopt;
    }
    const Part& part = consignment_.parts.size() == 1 ? consignment_.parts.front() : part_of(unit);
    return Assignment{&part.work, part.units.at(unit - part.first_unit)};
}

// One thread's part in the transfer. Returns true when it left early for others.
bool Transfer::move_units(bool yields) noexcept {
    {
        const std::lock_guard lock(mutex_);
        if (finishing_) {
            return false;
        }
        ++inside_;
    }
    bool more = false;
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
        std::uint32_t units = 0;
        while (const std::optional<Assignment> assignment = claim()) {
            started = true;
            engine->submit({&*assignment, 1});
            engine->reap(outcomes, false);
            record(outcomes);
            if (++units % kUnitsPerTurn == 0 && yields && Threads::instance().others_wait()) {
                more = true;
                break;
            }
        }
        engine->reap(outcomes, true);
        record(outcomes);
        const std::lock_guard lock(mutex_);
        helpers_ += units != 0 ? 1 : 0;
        times_.read_ns += engine->times().read_ns;
        times_.copy_ns += engine->times().copy_ns;
        times_.wait_ns += engine->times().wait_ns;
    } catch (const Error& error) {
        fail(error, started);
    } catch (const std::exception& problem) {
        fail(Error(ErrorCode::out_of_memory, std::string("moving bytes failed: ") + problem.what()), started);
    }
    bool last = false;
    bool again = false;
    {
        const std::lock_guard lock(mutex_);
        --inside_;
        more = more && !stop_.load();
        if (!more && --expected_ == 0 && !error_ && could_not_begin_ && next_unit_.load() < total_units_) {
            error_ = std::move(could_not_begin_);
            stop_.store(true);
        }
        last = inside_ == 0 && !finishing_ && (stop_.load() || next_unit_.load() >= total_units_);
        again = last && may_restage();
        last = last && !again;
        finishing_ = finishing_ || last;
        if (again) {
            ++expected_;
            restage();
        }
    }
    if (again) {
        return move_units(yields);
    }
    if (last) {
        finish();
    }
    return more;
}

// Under `auto` a cuFile that fails in the middle is no reason to fail (a regression of nvidia-fs 2.25.6 fails every read with
// EFAULT): all bytes are staged instead, and the receipt says why. Under the mutex, with no thread inside.
bool Transfer::may_restage() const noexcept {
    return consignment_.route->engine == EngineKind::cufile && consignment_.require == Require::none && !error_ && !cancelled_ &&
           consignment_.settings->compat_mode.value == CompatMode::automatic &&
           std::any_of(broken_.begin(), broken_.end(), [](const Outcome& outcome) {
               return outcome.failure.kind == Failure::Kind::cufile || outcome.failure.kind == Failure::Kind::system;
           });
}

void Transfer::restage() {
    Route staged = *consignment_.route;
    staged.engine = EngineKind::staged;
    staged.expected_path = Path::staged;
    staged.cufile_direct_descriptor = false;
    staged.reasons.insert(staged.reasons.begin(),
                          {"cufile-failed", error_of(broken_.front(), *consignment_.parts.front().name, consignment_.direction).what()});
    consignment_.route = std::make_shared<const Route>(std::move(staged));
    consignment_.plan.pieces_per_task.reset();
    consignment_.plan.pieces_total.reset();
    for (Part& part : consignment_.parts) {
        part.units = Units(part.size_bytes, consignment_.settings->task_size.value, consignment_.lading.slot_bytes);
    }
    lay_out_units();
    broken_.clear();
    sum_ = {};
    next_unit_.store(0);
    stop_.store(false);
}

void Transfer::record(std::vector<Outcome>& outcomes) {
    if (outcomes.empty()) {
        return;
    }
    const std::lock_guard lock(mutex_);
    for (const Outcome& outcome : outcomes) {
        add(sum_, outcome);
        if (outcome.failure) {
            stop_.store(true);
            broken_.push_back(outcome);
        }
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
    broke_off_ = true;
    stop_.store(true);
}

void Transfer::finish() noexcept {
    try {
        settle();
    } catch (const std::exception& problem) {
        error_.emplace(ErrorCode::internal, std::string("making the receipt failed: ") + problem.what());
    }
    {
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
}

// Closes the books: evidence, receipt, and the error if there was one. No thread moves bytes any more.
void Transfer::settle() {
    if (!broken_.empty() && !error_) {
        const auto earliest = std::min_element(broken_.begin(), broken_.end(), [this](const Outcome& a, const Outcome& b) {
            return request_offset(a) < request_offset(b);
        });
        const auto part = std::find_if(consignment_.parts.begin(), consignment_.parts.end(),
                                       [&](const Part& candidate) { return &candidate.work == earliest->assignment.work; });
        error_ = error_of(*earliest, *part->name, consignment_.direction);
    }
    if (cancelled_ && !error_ && next_unit_.load() < total_units_) {
        error_.emplace(ErrorCode::cancelled, "the request was cancelled before all of it had started");
    }
    if (consignment_.sync && !error_) {
        for (const Part& part : consignment_.parts) {
            if (::fsync(part.descriptors->buffered()) != 0) {
                error_.emplace(errno == ENOSPC || errno == EDQUOT ? ErrorCode::disk_full : ErrorCode::io_error,
                               "fsync of '" + *part.name + "' failed: the bytes may not be on storage", native_errno(errno));
                break;
            }
        }
    }
    const Evidence evidence = window_->close(consignment_.direction);
    auto receipt = std::make_shared<Receipt>(make_receipt(evidence));
    if (error_) {
        receipt->is_short = true;
        receipt->short_reason = to_text(error_->code());
        add_good_ranges(*receipt);
        receipt_ = receipt;
        error_ = error_->with_receipt(receipt_);
    } else {
        receipt_ = receipt;
        check_requirement();
    }
    count();
    log_receipt(*consignment_.settings, *receipt_);
}

// Into this process's statistics.
void Transfer::count() noexcept {
    if (!consignment_.settings->stats.value) {
        return;
    }
    std::optional<StatsCufileTotals> totals;
    if (const auto& look = window_->cufile_after()) {
        totals = {look->counts.reads, look->counts.writes, look->at_ns};
    }
    count_request(*receipt_, error_.has_value(), consignment_.gpu_uuid, totals);
}

// What `require` asks of the evidence.
void Transfer::check_requirement() {
    const Receipt& receipt = *receipt_;
    if (consignment_.require == Require::none || receipt.moved_bytes == 0) {
        return;
    }
    const std::string wanted = "require=" + std::string(to_text(consignment_.require));
    const auto refuse = [&](ErrorCode code, const std::string& why) { error_ = Error(code, why).with_receipt(receipt_); };
    if (receipt.judgement == Judgement::contradicted) {
        refuse(ErrorCode::contradicted, wanted + ": a counter contradicts the path: " + receipt.judgement_text);
    } else if (!satisfies(receipt.path, consignment_.require)) {
        refuse(ErrorCode::route_not_taken, wanted + " was not met: the bytes went by " + std::string(to_text(receipt.path)) +
                                               " (" + receipt.judgement_text + ")");
    } else if (receipt.judgement != Judgement::proved &&
               consignment_.settings->require_evidence.value == RequiredJudgement::proved) {
        refuse(ErrorCode::no_counters, wanted + " is not proved: " + receipt.judgement_text +
                                           "; set require_evidence=consistent to accept that");
    }
}

Receipt Transfer::make_receipt(const Evidence& evidence) const {
    Receipt receipt;
    const Part& first = consignment_.parts.front();
    receipt.file = first.name;
    receipt.op = consignment_.direction;
    receipt.file_offset = first.work.file_offset;
    for (const Part& part : consignment_.parts) {
        receipt.asked_bytes += part.asked_bytes;
    }
    receipt.moved_bytes = sum_.moved_bytes;
    receipt.is_short = receipt.moved_bytes < receipt.asked_bytes;
    if (receipt.is_short) {
        receipt.short_reason = "end-of-file";
    }
    receipt.destination = consignment_.destination;
    receipt.engine = consignment_.route->engine;
    const PathJudgement judged =
        judge(receipt.engine, consignment_.route->expected_path, sum_.moved_bytes, sum_.calls, evidence);
    receipt.path = judged.path;
    receipt.paths = judged.paths;
    receipt.judgement = judged.judgement;
    receipt.judgement_text = judged.text;
    receipt.source = {sum_.cached_bytes, sum_.device_bytes, sum_.unknown_bytes, sum_.estimated};
    receipt.tasks = consignment_.plan.tasks;
    receipt.pieces = consignment_.plan.pieces_per_task;
    receipt.pieces_total = consignment_.plan.pieces_total;
    receipt.threads = helpers_;
    receipt.direct_descriptor = consignment_.route->engine == EngineKind::cufile
                                    ? consignment_.route->cufile_direct_descriptor
                                    : sum_.direct_bytes != 0;
    receipt.times.total_ns = now_ns() - consignment_.start_ns;
    receipt.times.open_ns = consignment_.open_ns;
    receipt.times.thread_read_ns = times_.read_ns;
    receipt.times.thread_copy_ns = times_.copy_ns;
    receipt.times.thread_wait_ns = times_.wait_ns;
    const SetupCosts setup = SetupCosts::now();
    receipt.times.cuda_init_ns = setup.cuda_init_ns - consignment_.setup_before.cuda_init_ns;
    receipt.times.context_ns = setup.context_ns - consignment_.setup_before.context_ns;
    receipt.times.pin_ns = setup.pin_ns - consignment_.setup_before.pin_ns;
    receipt.times.cufile_open_ns = setup.cufile_open_ns - consignment_.setup_before.cufile_open_ns;
    receipt.route = consignment_.route;
    receipt.settings = consignment_.settings;
    receipt.evidence = evidence;
    receipt.evidence.residency = consignment_.residency;
    receipt.notes = consignment_.notes;
    if (setup.pin_refusals != consignment_.setup_before.pin_refusals) {
        receipt.notes.emplace_back("memory could not be pinned as wanted; the bytes went through less of it");
    }
    if (consignment_.many) {
        add_results(receipt);
    }
    return receipt;
}

// Where an outcome's first byte lies in the request; parts follow one another.
std::uint64_t Transfer::request_offset(const Outcome& outcome) const noexcept {
    std::uint64_t before = 0;
    for (const Part& part : consignment_.parts) {
        if (&part.work == outcome.assignment.work) {
            break;
        }
        before += part.size_bytes;
    }
    return before + outcome.assignment.task.offset;
}

// Units are claimed in order and none is left half way, so all that were claimed are good but for the broken ones.
void Transfer::add_good_ranges(Receipt& receipt) const {
    if (broke_off_) {  // a thread left in the middle of its units: nothing is sure
        receipt.moved_bytes = 0;
        return;
    }
    const std::uint64_t claimed = std::min(next_unit_.load(), total_units_);
    std::uint64_t end = 0;
    if (claimed != 0) {
        const Part& part = part_of(claimed - 1);
        const Task task = part.units.at(claimed - 1 - part.first_unit);
        Outcome last;
        last.assignment = {&part.work, task};
        end = request_offset(last) + task.size_bytes;
    }
    std::vector<Outcome> broken = broken_;
    std::sort(broken.begin(), broken.end(),
              [this](const Outcome& a, const Outcome& b) { return request_offset(a) < request_offset(b); });
    std::uint64_t from = 0;
    const auto add_range = [&](std::uint64_t to) {
        if (to > from) {
            receipt.good.push_back({from, to - from});
        }
    };
    for (const Outcome& outcome : broken) {
        const std::uint64_t at = request_offset(outcome);
        add_range(at + outcome.moved_bytes);
        from = at + outcome.assignment.task.size_bytes;
    }
    add_range(end);
    receipt.moved_bytes = !receipt.good.empty() && receipt.good.front().offset == 0 ? receipt.good.front().bytes : 0;
}

void Transfer::add_results(Receipt& receipt) const {
    receipt.results.reserve(consignment_.parts.size());
    for (const Part& part : consignment_.parts) {
        std::uint64_t moved = part.size_bytes;
        for (const Outcome& outcome : broken_) {
            if (outcome.assignment.work == &part.work) {
                moved = std::min(moved, outcome.assignment.task.offset + outcome.moved_bytes);
            }
        }
        const std::uint64_t claimed = next_unit_.load();
        if (claimed < part.first_unit + part.units.count()) {
            moved = claimed <= part.first_unit ? 0 : std::min(moved, part.units.at(claimed - part.first_unit).offset);
        }
        receipt.results.push_back({*part.name, part.work.file_offset, part.asked_bytes, moved, moved < part.asked_bytes});
    }
}

void Transfer::wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return done(); });
}

bool Transfer::wait_for(std::chrono::nanoseconds limit) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, limit, [this] { return done(); });
}

const Receipt& Transfer::result() {
    release_owners();
    if (error_) {
        throw *error_;
    }
    return *receipt_;
}

bool Transfer::cancel() {
    bool last = false;
    {
        const std::lock_guard lock(mutex_);
        if (finishing_ || done()) {
            return false;
        }
        cancelled_ = true;
        stop_.store(true);
        last = inside_ == 0;
        finishing_ = finishing_ || last;
    }
    const bool dropped = next_unit_.load() < total_units_;
    if (last) {
        finish();
    }
    return dropped;
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
