#include "engine/cufile.hpp"

#include <cerrno>

#include "base/clock.hpp"

namespace waybill {
namespace {

class CufileEngine final : public Engine {
public:
    CufileEngine(Direction direction, const Lading& lading) : direction_(direction), api_(*lading.cufile) {}

    void submit(std::span<const Assignment> assignments) override {
        for (const Assignment& assignment : assignments) {
            const std::uint64_t start = now_ns();
            finished_.push_back(move(assignment));
            times_.read_ns += now_ns() - start;
        }
    }

    void reap(std::vector<Outcome>& finished, bool /*all*/) override {
        finished.insert(finished.end(), finished_.begin(), finished_.end());
        finished_.clear();
    }

    [[nodiscard]] ThreadTimes times() const override { return times_; }

private:
    ssize_t call(const Work& work, const Task& task, std::uint64_t done) const {
        std::byte* const base = work.registered_base != nullptr ? work.registered_base : work.memory;
        const auto buffer_offset = static_cast<off_t>(work.memory - base) + static_cast<off_t>(task.offset + done);
        const auto file_offset = static_cast<off_t>(work.file_offset + task.offset + done);
        const std::size_t size_bytes = task.size_bytes - done;
        errno = 0;
        return direction_ == Direction::read ? api_.read(work.file.cufile, base, size_bytes, file_offset, buffer_offset)
                                             : api_.write(work.file.cufile, base, size_bytes, file_offset, buffer_offset);
    }

    Outcome move(const Assignment& assignment) const {
        Outcome outcome;
        outcome.assignment = assignment;
        while (outcome.moved_bytes < assignment.task.size_bytes) {
            const ssize_t count = call(*assignment.work, assignment.task, outcome.moved_bytes);
            ++outcome.calls;
            if (count > 0) {
                outcome.moved_bytes += static_cast<std::uint64_t>(count);
            } else if (count == 0) {
                using Kind = Failure::Kind;
                outcome.failure = {direction_ == Direction::read ? Kind::end_of_file : Kind::nothing_written, 0};
                break;
            } else if (count == -1 && errno != 0) {
                if (errno == EINTR) {
                    continue;
                }
                outcome.failure = {Failure::Kind::cufile_system, errno};
                break;
            } else {  // minus a cuFile code; -1 where it set no errno
                outcome.failure = {Failure::Kind::cufile, count};
                break;
            }
        }
        outcome.unknown_bytes = outcome.moved_bytes;  // cuFile does not tell where it found them
        return outcome;
    }

    Direction direction_;
    const CufileApi& api_;
    std::vector<Outcome> finished_;
    ThreadTimes times_;
};

}  // namespace

std::unique_ptr<Engine> make_cufile_engine(Direction direction, const Lading& lading) {
    return std::make_unique<CufileEngine>(direction, lading);
}

}  // namespace waybill
