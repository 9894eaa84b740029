#include "base/forks.hpp"

#include <unistd.h>

#include <array>
#include <cstdint>

#include "base/clock.hpp"

namespace waybill {
namespace {

// Longer than any section should take; a section that hangs in the kernel must not hang the program's fork.
constexpr std::uint64_t kPatienceNs = 1'000'000'000;
constexpr unsigned kLookAgainUs = 50;

// How many threads are in a section. Spread over cache lines, so that threads of small reads don't share one.
struct alignas(64) Count {
    std::atomic<std::uint32_t> inside{0};
};
std::array<Count, 16> counts;
std::atomic<std::uint32_t> forking{0};  // threads that are in fork()
std::atomic<std::uint32_t> next_place{0};

std::atomic<std::uint64_t> forks{0};

thread_local std::uint32_t depth = 0;
thread_local const std::uint32_t place = next_place.fetch_add(1, std::memory_order_relaxed) % counts.size();

std::uint32_t threads_inside() noexcept {
    std::uint32_t sum = 0;
    for (const Count& count : counts) {
        sum += count.inside.load();
    }
    return sum;
}

void enter() noexcept {
    while (true) {
        counts[place].inside.fetch_add(1);
        if (forking.load() == 0) {
            return;
        }
        counts[place].inside.fetch_sub(1);
        while (forking.load() != 0) {
            ::usleep(kLookAgainUs);
        }
    }
}

void before_fork() noexcept {
    forking.fetch_add(1);
    const std::uint32_t own = depth != 0 ? 1 : 0;
    const std::uint64_t end = now_ns() + kPatienceNs;
    while (threads_inside() > own && now_ns() < end) {
        ::usleep(kLookAgainUs);
    }
    ++depth;  // other handlers may use sections
}

void after_fork_in_parent() noexcept {
    --depth;
    forking.fetch_sub(1);
}

void after_fork_in_child() noexcept {
    --depth;
    for (Count& count : counts) {
        count.inside.store(0);
    }
    counts[place].inside.store(depth != 0 ? 1 : 0);
    forking.store(0);
    forks.fetch_add(1);
}

[[maybe_unused]] const int watching = ::pthread_atfork(&before_fork, &after_fork_in_parent, &after_fork_in_child);

}  // namespace

std::uint64_t forks_so_far() noexcept {
    return forks.load(std::memory_order_relaxed);
}

ForkHold::ForkHold() noexcept {
    if (depth++ == 0) {
        enter();
    }
}

ForkHold::~ForkHold() {
    if (--depth == 0) {
        counts[place].inside.fetch_sub(1);
    }
}

}  // namespace waybill
