#include "stats/segment.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <mutex>

#include "base/clock.hpp"
#include "base/fd.hpp"
#include "base/forks.hpp"
#include "waybill/version.hpp"

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

namespace waybill {
namespace {

// What a forked child has of its parent: it lets go of it, so that nobody finds it under the child's number.
struct Inherited {
    int fd = -1;
    void* address = nullptr;
    dev_t device = 0;
    ino_t inode = 0;
};
Inherited inherited;

// Between fork and all else in the child: system calls alone.
void drop_inherited() noexcept {
    struct stat state {};
    if (inherited.fd >= 0 && ::fstat(inherited.fd, &state) == 0 && state.st_dev == inherited.device &&
        state.st_ino == inherited.inode) {  // else the program has closed it, and the number is another file's
        ::close(inherited.fd);
    }
    if (inherited.address != nullptr) {
        ::munmap(inherited.address, sizeof(StatsSegment));
    }
    inherited = {};
    made_segment.store(nullptr);
}

Fd make_memory() noexcept {
    struct rlimit limit {};
    if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < sizeof(StatsSegment)) {
        return {};  // to grow a file past it would end the program by SIGXFSZ
    }
    // Kernels from 6.3 on want to be told that nothing in it will run, and may insist; earlier ones don't know the flag.
    Fd first(::memfd_create(kStatsName, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL));
    if (!first && errno == EINVAL) {
        first = Fd(::memfd_create(kStatsName, MFD_CLOEXEC | MFD_ALLOW_SEALING));
    }
    if (!first) {
        return {};
    }
    // Above 2, so that a program without standard input or output never takes it for one.
    Fd memory(::fcntl(first.get(), F_DUPFD_CLOEXEC, 3));
    if (!memory || ::fchmod(memory.get(), S_IRUSR | S_IWUSR) != 0 || ::ftruncate(memory.get(), sizeof(StatsSegment)) != 0) {
        return {};
    }
    return memory;
}

std::uint64_t unix_ns() noexcept {
    struct timespec now {};
    ::clock_gettime(CLOCK_REALTIME, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

void fill_head(StatsSegment& segment) noexcept {
    segment.version.store(kStatsVersion);
    segment.size_bytes.store(sizeof(StatsSegment));
    segment.pid.store(static_cast<std::uint64_t>(::getpid()));
    segment.start_unix_ns.store(unix_ns());
    segment.start_ns.store(now_ns());
    std::uint64_t library[2] = {};
    std::memcpy(library, kVersion.data(), std::min(sizeof library, kVersion.size()));
    segment.library[0].store(library[0]);
    segment.library[1].store(library[1]);
    segment.magic.store(kStatsMagic);  // last: a reader takes nothing without it
}

class OwnSegment {
public:
    [[nodiscard]] StatsSegment* get() noexcept {
        if (!tried_.load(std::memory_order_acquire)) {
            const ForkHold hold;  // a child must know all that it inherits
            const std::lock_guard lock(mutex_);
            if (!tried_.load(std::memory_order_relaxed)) {
                make();
                tried_.store(true, std::memory_order_release);
            }
        }
        return segment_;
    }

private:
    void make() noexcept {
        Fd memory = make_memory();
        if (!memory) {
            return;
        }
        void* address = ::mmap(nullptr, sizeof(StatsSegment), PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0);
        if (address == MAP_FAILED) {
            return;
        }
        // It never shrinks under a reader, and nobody else can write to it. Older kernels lack the last seal alone.
        ::fcntl(memory.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
        ::fcntl(memory.get(), F_ADD_SEALS, F_SEAL_FUTURE_WRITE);
        struct stat state {};
        ::fstat(memory.get(), &state);
        static const int registered = ::pthread_atfork(nullptr, nullptr, &drop_inherited);  // children inherit it
        (void)registered;
        inherited = {memory.release(), address, state.st_dev, state.st_ino};
        segment_ = static_cast<StatsSegment*>(address);  // zeros, which are a valid state of every word
        fill_head(*segment_);
        made_segment.store(segment_, std::memory_order_release);
    }

    std::mutex mutex_;
    std::atomic<bool> tried_{false};
    StatsSegment* segment_ = nullptr;
};
ForkLocal<OwnSegment> the_segment;

}  // namespace

[[gnu::cold]] StatsSegment* make_own_segment() noexcept {
    try {
        return the_segment.get().get();
    } catch (...) {
        return nullptr;
    }
}

}  // namespace waybill
