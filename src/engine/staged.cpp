#include "engine/staged.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "base/clock.hpp"
#include "engine/file_calls.hpp"
#include "pool/lanes.hpp"
#include "pool/slots.hpp"

namespace waybill {
namespace {

CuPointer device_address(const Assignment& assignment) noexcept {
    return reinterpret_cast<CuPointer>(assignment.work->memory + assignment.task.offset);
}

std::uint64_t file_offset_of(const Assignment& assignment) noexcept {
    return assignment.work->file_offset + assignment.task.offset;
}

// The first copies of a thread are small and grow twofold, so that the GPU is not idle while a whole slot is read. Steps of less, or
// of a slot that is not much larger, cost more than they gain (docs/measurements).
constexpr std::uint64_t kFirstStepBytes = 512 * 1024;

// Through O_DIRECT a task has a slot to itself, whose ends it may need.
bool shares_a_slot(const Work& work) noexcept {
    return work.direction == Direction::read ? work.page_cache == PageCacheUse::use || work.file.direct < 0 : !work.direct_write;
}

// How many of these go into one slot together, without gaps between them: at least the first.
std::size_t group_of(std::span<const Assignment> assignments, std::uint64_t slot_bytes) noexcept {
    if (!shares_a_slot(*assignments[0].work)) {
        return 1;
    }
    std::uint64_t room = assignments[0].task.size_bytes;
    std::size_t count = 1;
    while (count < assignments.size() && shares_a_slot(*assignments[count].work) &&
           room + assignments[count].task.size_bytes <= slot_bytes) {
        room += assignments[count++].task.size_bytes;
    }
    return count;
}

// Copies between a slot and the GPU that are started together.
class Copies {
public:
    Copies(const CudaApi& api, const PointerOwner& owner, Direction direction) noexcept
        : api_(api), to_gpu_(direction == Direction::read),
          may_batch_(api.copy_batch_async != nullptr && owner.memory != MemoryKind::managed), device_(owner.device) {}

    void clear() noexcept {
        on_gpu_.clear();
        in_slot_.clear();
        sizes_.clear();
    }
    // Neighbours on both sides are one copy.
    void add(CuPointer on_gpu, const std::byte* in_slot, std::size_t size_bytes) {
        if (!empty() && on_gpu == on_gpu_.back() + sizes_.back() &&
            reinterpret_cast<CuPointer>(in_slot) == in_slot_.back() + sizes_.back()) {
            sizes_.back() += size_bytes;
            return;
        }
        on_gpu_.push_back(on_gpu);
        in_slot_.push_back(reinterpret_cast<CuPointer>(in_slot));
        sizes_.push_back(size_bytes);
    }
    [[nodiscard]] bool empty() const noexcept { return sizes_.empty(); }

    // In one call where the driver has it and would not refuse the stream; what it refuses is copied one by one.
    CuStatus start(CuStream stream) {
        if (sizes_.size() > 1 && may_batch_ && stream != nullptr) {
            const CuLocation gpu{kLocationDevice, device_};
            const CuLocation host{kLocationHost, 0};
            CuCopyAttributes attributes{kSourceInStreamOrder, to_gpu_ ? host : gpu, to_gpu_ ? gpu : host, 0};
            std::size_t from_first = 0;
            CuPointer* const destinations = to_gpu_ ? on_gpu_.data() : in_slot_.data();
            CuPointer* const sources = to_gpu_ ? in_slot_.data() : on_gpu_.data();
            if (api_.copy_batch_async(destinations, sources, sizes_.data(), sizes_.size(), &attributes, &from_first, 1, stream) ==
                kCudaSuccess) {
                return kCudaSuccess;
            }
            may_batch_ = false;
        }
        CuStatus status = kCudaSuccess;
        for (std::size_t k = 0; k < sizes_.size() && status == kCudaSuccess; ++k) {
            status = start_one(k, stream);
        }
        return status;
    }

private:
    CuStatus start_one(std::size_t k, CuStream stream) const {
        auto* const slot = reinterpret_cast<void*>(in_slot_[k]);
        return to_gpu_ ? api_.copy_to_device_async(on_gpu_[k], slot, sizes_[k], stream)
                       : api_.copy_to_host_async(slot, on_gpu_[k], sizes_[k], stream);
    }

    const CudaApi& api_;
    bool to_gpu_;
    bool may_batch_;
    int device_;
    std::vector<CuPointer> on_gpu_;
    std::vector<CuPointer> in_slot_;
    std::vector<std::size_t> sizes_;
};

// A slot and the copies that it takes part in.
struct Half {
    SlotLease slot;
    CuEvent copied = nullptr;
    bool busy = false;
    std::vector<Outcome> outcomes;  // of the tasks in it, in the order of the slot
};

// What reading and writing share: the lane, the two halves and their order.
class StagedEngine : public Engine {
public:
    StagedEngine(Direction direction, const Lading& lading)
        : api_(*cuda_if_loaded()), lane_(api_, lading.owner.context), single_(lading.on_callers_stream), spin_(lading.spin),
          stream_(single_ ? lading.stream : lane_->stream), copies_(api_, lading.owner, direction), slot_bytes_(lading.slot_bytes),
          pinned_limit_(lading.pinned_limit) {
        const std::uint64_t start = now_ns();
        halves_[0].slot = SlotLease(SlotPool::instance().take(slot_bytes_, pinned_limit_, &api_));
        if (!single_) {
            for (const CuEvent event : lading.after) {
                check_cuda(api_.stream_wait_event(stream_, event, 0), "cuStreamWaitEvent");
            }
        }
        times_.wait_ns += now_ns() - start;
        for (std::size_t k = 0; k < halves_.size(); ++k) {
            halves_[k].copied = (spin_ ? lane_->spinning_events : lane_->sleeping_events)[k];
        }
    }
    ~StagedEngine() override {
        for (const Half& half : halves_) {
            if (half.busy) {
                wait_for_copy(half);
            }
        }
    }
    StagedEngine(const StagedEngine&) = delete;
    StagedEngine& operator=(const StagedEngine&) = delete;

    void submit(std::span<const Assignment> assignments) override {
        while (!assignments.empty()) {
            if (!single_ && !asked_twice_ && halves_[0].busy) {
                take_second_slot();
            }
            Half& half = next_half();
            const std::size_t count = group_of(assignments, half.slot->size_bytes);
            half.outcomes.assign(count, {});
            for (std::size_t k = 0; k < count; ++k) {
                half.outcomes[k].assignment = assignments[k];
            }
            begin(half);
            assignments = assignments.subspan(count);
        }
    }

    void reap(std::vector<Outcome>& finished, bool all) override {
        if (all) {
            for (std::size_t k = 0; k < halves_.size(); ++k) {
                (void)next_half();
            }
        }
        finished.insert(finished.end(), finished_.begin(), finished_.end());
        finished_.clear();
    }

    [[nodiscard]] ThreadTimes times() const override { return times_; }

protected:
    // Starts the tasks of half.outcomes; leaves the half busy while copies are under way, else ends the outcomes.
    virtual void begin(Half& half) = 0;
    // The copies of this half are over, and well: ends the outcomes.
    virtual void end(Half& half) = 0;

    [[nodiscard]] bool nothing_under_way() const noexcept {
        return std::none_of(halves_.begin(), halves_.end(), [](const Half& half) { return half.busy; });
    }

    // Starts the copies that were added, and takes them out.
    CuStatus start_copies() {
        const std::uint64_t start = now_ns();
        const CuStatus status = copies_.start(stream_);
        times_.copy_ns += now_ns() - start;
        copies_.clear();
        return status;
    }

    // To be called once for the copies of a half, with what starting them answered: whether there is one to wait for.
    void mark_copies(Half& half, CuStatus status) {
        const std::uint64_t start = now_ns();
        if (status == kCudaSuccess && !single_) {
            status = api_.event_record(half.copied, stream_);
        }
        if (status != kCudaSuccess) {
            api_.stream_synchronize(stream_);  // some may be queued all the same, and use the slot and the destination
        }
        times_.copy_ns += now_ns() - start;
        half.busy = status == kCudaSuccess;
        if (!half.busy) {
            fail(half, status);
        }
    }

    void finish(const Half& half) { finished_.insert(finished_.end(), half.outcomes.begin(), half.outcomes.end()); }

    const CudaApi& api_;
    LaneLease lane_;
    bool single_;
    bool spin_;
    CuStream stream_;
    Copies copies_;
    ThreadTimes times_;

private:
    // A copy failed: none of the bytes arrived, wherever they had been read from.
    void fail(Half& half, CuStatus status) {
        for (Outcome& outcome : half.outcomes) {
            const Assignment assignment = outcome.assignment;
            outcome = {};
            outcome.assignment = assignment;
            outcome.failure = {Failure::Kind::cuda, status};
        }
        finish(half);
    }

    // A second slot is wanted once there is something to overlap: a request of one unit holds one.
    void take_second_slot() {
        const std::uint64_t start = now_ns();
        asked_twice_ = true;
        halves_[1].slot = SlotLease(SlotPool::instance().try_take(slot_bytes_, pinned_limit_, &api_));
        turn_ = halves_[1].slot ? 1 : 0;
        times_.wait_ns += now_ns() - start;
    }

    // The half whose turn it is, no longer busy. With one slot alone it is always the first.
    Half& next_half() {
        Half& half = halves_[turn_];
        turn_ = halves_[1].slot ? 1 - turn_ : 0;
        if (half.busy) {
            const CuStatus status = wait_for_copy(half);
            half.busy = false;
            status == kCudaSuccess ? end(half) : fail(half, status);
        }
        return half;
    }

    CuStatus wait_for_copy(const Half& half) {
        const std::uint64_t start = now_ns();
        const CuStatus status = single_ ? api_.stream_synchronize(stream_) : api_.event_synchronize(half.copied);
        if (status != kCudaSuccess && !single_) {
            api_.stream_synchronize(stream_);  // an event that failed does not tell that the copy is over
        }
        times_.wait_ns += now_ns() - start;
        return status;
    }

    std::uint64_t slot_bytes_;
    std::uint64_t pinned_limit_;
    std::array<Half, 2> halves_;
    bool asked_twice_ = false;
    std::size_t turn_ = 0;
    std::vector<Outcome> finished_;
};

class StagedReads final : public StagedEngine {
public:
    explicit StagedReads(const Lading& lading) : StagedEngine(Direction::read, lading) {}

private:
    void begin(Half& half) override {
        std::optional<CuStatus> started;
        if (half.outcomes.size() == 1 && half.outcomes[0].assignment.task.size_bytes > 2 * kFirstStepBytes &&
            shares_a_slot(*half.outcomes[0].assignment.work) && nothing_under_way()) {
            started = read_in_steps(half);
        } else {
            read_whole(half);
        }
        if (!copies_.empty() && started.value_or(kCudaSuccess) == kCudaSuccess) {
            started = start_copies();
        }
        started ? mark_copies(half, *started) : finish(half);
    }

    void end(Half& half) override { finish(half); }

    void read_whole(Half& half) {
        std::byte* slot = half.slot->memory;
        for (Outcome& outcome : half.outcomes) {
            const Assignment assignment = outcome.assignment;
            const CallResult result = read(assignment, 0, slot, assignment.task.size_bytes);
            outcome = outcome_of(assignment, result);
            if (result.moved_bytes != 0) {
                const Work& work = *assignment.work;
                copies_.add(device_address(assignment), slot + slot_lead(work.file, work.page_cache, file_offset_of(assignment)),
                            result.moved_bytes);
            }
            slot += assignment.task.size_bytes;
        }
    }

    // The copy of each step but the last, which is left to the caller, overlaps the read of the next. Returns the status of
    // those that were started: the first that fails ends the steps.
    std::optional<CuStatus> read_in_steps(Half& half) {
        const Assignment assignment = half.outcomes[0].assignment;
        const std::uint64_t size_bytes = assignment.task.size_bytes;
        CallResult total;
        std::optional<CuStatus> started;
        std::uint64_t step = kFirstStepBytes;
        for (std::uint64_t at = 0; at < size_bytes && !total.failure; step *= 2) {
            if (!copies_.empty()) {
                started = start_copies();
                if (*started != kCudaSuccess) {
                    break;
                }
            }
            const std::uint64_t size = size_bytes - at < 2 * step ? size_bytes - at : step;
            const CallResult part = read(assignment, at, half.slot->memory + at, size);
            total.add(part);
            if (part.moved_bytes != 0) {
                copies_.add(device_address(assignment) + at, half.slot->memory + at, part.moved_bytes);
            }
            at += size;
        }
        half.outcomes[0] = outcome_of(assignment, total);
        return started;
    }

    CallResult read(const Assignment& assignment, std::uint64_t at, std::byte* slot, std::uint64_t size_bytes) {
        const Work& work = *assignment.work;
        const std::uint64_t start = now_ns();
        const CallResult result =
            read_to_slot(work.file, {work.page_cache, work.picture.get()}, file_offset_of(assignment) + at, slot, size_bytes);
        times_.read_ns += now_ns() - start;
        return result;
    }
};

class StagedWrites final : public StagedEngine {
public:
    explicit StagedWrites(const Lading& lading) : StagedEngine(Direction::write, lading) {}

private:
    static std::byte* place_in(std::byte* slot, const Assignment& assignment) noexcept {
        const Work& work = *assignment.work;
        return slot + write_lead(work.file, work.direct_write, file_offset_of(assignment));
    }

    void begin(Half& half) override {
        std::byte* slot = half.slot->memory;
        for (const Outcome& outcome : half.outcomes) {
            const Assignment& assignment = outcome.assignment;
            copies_.add(device_address(assignment), place_in(slot, assignment), assignment.task.size_bytes);
            slot += assignment.task.size_bytes;
        }
        mark_copies(half, start_copies());
    }

    void end(Half& half) override {
        std::byte* slot = half.slot->memory;
        for (Outcome& outcome : half.outcomes) {
            const Assignment assignment = outcome.assignment;
            const std::uint64_t start = now_ns();
            const CallResult result = write_range(assignment.work->file, assignment.work->direct_write, file_offset_of(assignment),
                                                  place_in(slot, assignment), assignment.task.size_bytes);
            times_.read_ns += now_ns() - start;
            outcome = outcome_of(assignment, result);
            slot += assignment.task.size_bytes;
        }
        finish(half);
    }
};

}  // namespace

std::unique_ptr<Engine> make_staged_engine(Direction direction, const Lading& lading) {
    if (direction == Direction::read) {
        return std::make_unique<StagedReads>(lading);
    }
    return std::make_unique<StagedWrites>(lading);
}

}  // namespace waybill
