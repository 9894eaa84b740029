#include "engine/staged.hpp"

#include <array>

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

// A slot and the copy that it takes part in.
struct Half {
    SlotLease slot;
    CuEvent copied = nullptr;
    bool busy = false;
    Outcome outcome;
};

// What reading and writing share: the lane, the two halves and their order.
class StagedEngine : public Engine {
public:
    explicit StagedEngine(const Lading& lading)
        : api_(*cuda_if_loaded()), lane_(api_, lading.owner.context), single_(lading.on_callers_stream), spin_(lading.spin),
          stream_(single_ ? lading.stream : lane_->stream), slot_bytes_(lading.slot_bytes), pinned_limit_(lading.pinned_limit) {
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
        for (const Assignment& assignment : assignments) {
            if (!single_ && !asked_twice_ && halves_[0].busy) {
                take_second_slot();
            }
            Half& half = next_half();
            half.outcome = {};
            half.outcome.assignment = assignment;
            begin(half);
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
    // Starts the task of half.outcome; leaves the half busy while a copy is under way, else ends the outcome.
    virtual void begin(Half& half) = 0;
    // The copy of this half is over (`status`): ends the outcome.
    virtual void end(Half& half, CuStatus status) = 0;

    // Starts a copy whose status decides whether there is one to wait for.
    void start_copy(Half& half, CuStatus status, std::uint64_t started_ns) {
        if (status == kCudaSuccess && !single_) {
            status = api_.event_record(half.copied, stream_);
            if (status != kCudaSuccess) {
                api_.stream_synchronize(stream_);  // the copy is queued all the same, and uses the slot and the destination
            }
        }
        times_.copy_ns += now_ns() - started_ns;
        half.busy = status == kCudaSuccess;
        if (!half.busy) {
            fail(half, status);
        }
    }

    void finish(const Half& half) { finished_.push_back(half.outcome); }

    // The copy failed: none of the bytes arrived, wherever they had been read from.
    void fail(Half& half, CuStatus status) {
        const Assignment assignment = half.outcome.assignment;
        half.outcome = {};
        half.outcome.assignment = assignment;
        half.outcome.failure = {Failure::Kind::cuda, status};
        finish(half);
    }

    const CudaApi& api_;
    LaneLease lane_;
    bool single_;
    bool spin_;
    CuStream stream_;
    ThreadTimes times_;

private:
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
            end(half, status);
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
    using StagedEngine::StagedEngine;

private:
    void begin(Half& half) override {
        const Assignment assignment = half.outcome.assignment;
        const Work& work = *assignment.work;
        const std::uint64_t offset = file_offset_of(assignment);
        const std::uint64_t start = now_ns();
        const CallResult result =
            read_to_slot(work.file, {work.page_cache, work.picture.get()}, offset, half.slot->memory, assignment.task.size_bytes);
        const std::uint64_t read_end = now_ns();
        times_.read_ns += read_end - start;
        half.outcome = outcome_of(assignment, result);
        if (result.moved_bytes == 0) {
            finish(half);
            return;
        }
        const std::byte* const bytes = half.slot->memory + slot_lead(work.file, work.page_cache, offset);
        start_copy(half, api_.copy_to_device_async(device_address(assignment), bytes, result.moved_bytes, stream_), read_end);
    }

    void end(Half& half, CuStatus status) override { status == kCudaSuccess ? finish(half) : fail(half, status); }
};

class StagedWrites final : public StagedEngine {
public:
    using StagedEngine::StagedEngine;

private:
    static std::byte* place_in_slot(const Half& half) noexcept {
        const Work& work = *half.outcome.assignment.work;
        return half.slot->memory + write_lead(work.file, work.direct_write, file_offset_of(half.outcome.assignment));
    }

    void begin(Half& half) override {
        const Assignment& assignment = half.outcome.assignment;
        const std::uint64_t start = now_ns();
        start_copy(half,
                   api_.copy_to_host_async(place_in_slot(half), device_address(assignment), assignment.task.size_bytes, stream_),
                   start);
    }

    void end(Half& half, CuStatus status) override {
        const Assignment assignment = half.outcome.assignment;
        if (status != kCudaSuccess) {
            fail(half, status);
            return;
        }
        const std::uint64_t start = now_ns();
        const CallResult result = write_range(assignment.work->file, assignment.work->direct_write, file_offset_of(assignment),
                                              place_in_slot(half), assignment.task.size_bytes);
        times_.read_ns += now_ns() - start;
        half.outcome = outcome_of(assignment, result);
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
