#include "plan/threads.hpp"

#include <algorithm>

namespace waybill {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
// Three quarters of the cores, up to twelve: more cost processor time alone (docs/measurements).
constexpr std::uint64_t kMostThreads = 12;
// Buffered writes to one file take turns at its lock: more threads only spin (docs/measurements).
constexpr std::uint64_t kMostWriteThreads = 2;
// A read of less is one thread's: others wake too late to help (docs/measurements).
constexpr std::uint64_t kThreadsFromBytes = 3 * kMiB / 2;
// Up to here eight threads do as well as all, or better: the units of more would be too small (docs/measurements).
constexpr std::uint64_t kMiddlingBytes = 32 * kMiB;
constexpr std::uint64_t kMiddlingThreads = 8;
constexpr std::uint64_t kBytesPerThread = 512 * 1024;

}  // namespace

std::uint64_t choose_threads(const ThreadQuestion& question, const Settings& settings) {
    std::uint64_t threads = settings.num_threads.value;
    if (threads == 0) {
        const bool write = question.direction == Direction::write && !settings.direct_write.value;
        threads = std::clamp<std::uint64_t>(question.cores - question.cores / 4, 1, write ? kMostWriteThreads : kMostThreads);
        if (question.requests == 1 && question.total_bytes < kMiddlingBytes) {
            const std::uint64_t most = question.total_bytes < kThreadsFromBytes ? 1 : std::min(threads, kMiddlingThreads);
            threads = std::clamp<std::uint64_t>(question.total_bytes / kBytesPerThread, 1, most);
        }
    }
    if (question.engine != EngineKind::cufile) {
        // Two slots a thread.
        const std::uint64_t slots = settings.pinned_limit.value / std::max<std::uint64_t>(1, settings.bounce_buffer_size.value);
        threads = std::min(threads, slots / 2);
    }
    return std::max<std::uint64_t>(1, threads);
}

}  // namespace waybill
