#include "engine/host.hpp"

#include <algorithm>
#include <cstring>

#include "base/clock.hpp"
#include "engine/file_calls.hpp"
#include "pool/slots.hpp"

namespace waybill {
namespace {

class HostEngine final : public Engine {
public:
    HostEngine(Direction direction, const Lading& lading) : direction_(direction), lading_(lading) {}

    void submit(std::span<const Assignment> assignments) override {
        for (const Assignment& assignment : assignments) {
            const std::uint64_t start = now_ns();
            finished_.push_back(outcome_of(assignment, move(assignment)));
            times_.read_ns += now_ns() - start;
        }
    }

    void reap(std::vector<Outcome>& finished, bool /*all*/) override {
        finished.insert(finished.end(), finished_.begin(), finished_.end());
        finished_.clear();
    }

    [[nodiscard]] ThreadTimes times() const override { return times_; }

private:
    CallResult move(const Assignment& assignment) {
        const Work& work = *assignment.work;
        const std::uint64_t offset = work.file_offset + assignment.task.offset;
        std::byte* const memory = work.memory + assignment.task.offset;
        if (direction_ == Direction::write) {
            return write_range(work.file, work.direct_write, offset, memory, assignment.task.size_bytes);
        }
        if (work.page_cache == PageCacheUse::use || work.file.direct < 0) {
            return read_buffered(work.file, work.picture.get(), offset, memory, assignment.task.size_bytes);
        }
        return read_through_slot(work, offset, memory, assignment.task.size_bytes);
    }

    // O_DIRECT wants alignment that the caller's memory need not have.
    CallResult read_through_slot(const Work& work, std::uint64_t offset, std::byte* memory, std::size_t size_bytes) {
        CallResult total;
        try {
            if (!slot_) {  // no GPU copies from it: it need not be pinned
                slot_ = SlotLease(SlotPool::instance().take(lading_.slot_bytes, lading_.pinned_limit, nullptr));
            }
        } catch (const Error&) {
            total.failure = {Failure::Kind::no_memory, 0};
            return total;
        }
        while (total.moved_bytes < size_bytes && !total.failure) {
            const std::size_t step = std::min<std::size_t>(size_bytes - total.moved_bytes, slot_->size_bytes);
            const std::uint64_t at = offset + total.moved_bytes;
            const CallResult part = read_to_slot(work.file, {work.page_cache, work.picture.get()}, at, slot_->memory, step);
            std::memcpy(memory + total.moved_bytes, slot_->memory + slot_lead(work.file, work.page_cache, at), part.moved_bytes);
            total.add(part);
        }
        return total;
    }

    Direction direction_;
    Lading lading_;
    SlotLease slot_;
    std::vector<Outcome> finished_;
    ThreadTimes times_;
};

}  // namespace

std::unique_ptr<Engine> make_host_engine(Direction direction, const Lading& lading) {
    return std::make_unique<HostEngine>(direction, lading);
}

}  // namespace waybill
