#include "plan/threads.hpp"

#include <algorithm>

namespace waybill {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
// Three quarters of the cores, up to twelve: more cost processor time alone (docs/measurements).
constexpr std::uint64_t kMostThreads = 12;
// Into host memory nothing but processors moves bytes: all of them, up to sixteen (docs/measurements).
constexpr std::uint64_t kMostHostThreads = 16;
// Buffered writes to one file take turns at its lock: more threads only spin (docs/measurements).
constexpr std::uint64_t kMostWriteThreads = 2;
// A read of less is one thread's: others wake too late to help (docs/measurements).
constexpr std::uint64_t kThreadsFromBytes = kMiB / 2;
// Up to here eight threads do as well as all, or better: the units of more would be too small (docs/measurements).
constexpr std::uint64_t kMiddlingBytes = 32 * kMiB;
constexpr std::uint64_t kMiddlingThreads = 8;
constexpr std::uint64_t kBytesPerThread = 256 * 1024;

std::uint64_t threads_for_bulk(const ThreadQuestion& question) {
    const std::uint64_t most_cores = std::max<std::uint64_t>(1, question.cores);
    const std::uint64_t three_quarters = most_cores - most_cores / 4;
    if (question.direction == Direction::write && !question.direct_write) {
        return std::min(three_quarters, kMostWriteThreads);
    }
    return question.engine == EngineKind::host ? std::min(most_cores, kMostHostThreads) : std::min(three_quarters, kMostThreads);
}

}  // namespace

std::uint64_t choose_threads(const ThreadQuestion& question, const Settings& settings) {
    std::uint64_t threads = settings.num_threads.value;
    if (threads == 0) {
        threads = threads_for_bulk(question);
        if (question.requests == 1 && question.total_bytes < kMiddlingBytes) {
            const std::uint64_t most = question.total_bytes < kThreadsFromBytes ? 1 : std::min(threads, kMiddlingThreads);
            threads = std::clamp<std::uint64_t>(question.total_bytes / kBytesPerThread, 1, most);
        }
    }
    if (question.engine == EngineKind::staged) {  // the others pin nothing
        // Two slots a thread.
        const std::uint64_t slots = settings.pinned_limit.value / std::max<std::uint64_t>(1, settings.bounce_buffer_size.value);
        threads = std::min(threads, slots / 2);
    }
    return std::max<std::uint64_t>(1, threads);
}

}  // namespace waybill
