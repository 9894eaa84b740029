#include "gpu/cufile.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <tuple>

#include "base/clock.hpp"
#include "base/fd.hpp"
#include "base/forks.hpp"
#include "base/library.hpp"
#include "base/signals.hpp"
#include "base/text.hpp"
#include "gpu/driver_probe.hpp"
#include "gpu/properties_file.hpp"
#include "gpu/statistics_segment.hpp"

namespace waybill {
namespace {

// At most what can be added to a clock.
std::chrono::nanoseconds wait_of(std::uint64_t wait_ns) {
    return std::chrono::nanoseconds(std::min<std::uint64_t>(wait_ns, kLongestWait.count()));
}

std::atomic<std::uint64_t> open_time_ns{0};

// Puts descriptors 0 to 2 back if they were closed or replaced: a failed cuFileDriverOpen closes descriptor 0 where
// nvidia-fs is loaded without its device nodes (fastsafetensors pull 102).
class StandardDescriptors {
public:
    StandardDescriptors() {
        for (int number = 0; number < kCount; ++number) {
            struct stat state {};
            if (::fstat(number, &state) == 0) {
                copies_[number] = Fd(::fcntl(number, F_DUPFD_CLOEXEC, kCount));
                states_[number] = state;
            }
        }
    }
    ~StandardDescriptors() {
        for (int number = 0; number < kCount; ++number) {
            struct stat state {};
            if (copies_[number] && (::fstat(number, &state) != 0 || state.st_ino != states_[number].st_ino ||
                                    state.st_dev != states_[number].st_dev)) {
                ::dup2(copies_[number].get(), number);
            }
        }
    }
    StandardDescriptors(const StandardDescriptors&) = delete;
    StandardDescriptors& operator=(const StandardDescriptors&) = delete;

private:
    static constexpr int kCount = 3;
    std::array<Fd, kCount> copies_;
    std::array<struct stat, kCount> states_{};
};

Error unavailable(const std::string& why, NativeCode native = {}) {
    return Error(ErrorCode::cufile_unavailable, "cuFile cannot be used: " + why, std::move(native));
}

template <class Function>
void bind(const Library& library, const char* name, Function& slot, bool optional = false) {
    slot = reinterpret_cast<Function>(library.symbol(name));
    if (slot == nullptr && !optional) {
        throw unavailable(library.path() + " has no entry point " + name);
    }
}

void bind_all(const Library& library, CufileApi& api) {
    bind(library, "cuFileDriverOpen", api.driver_open);
    bind(library, "cuFileDriverClose_v2", api.driver_close, true);
    bind(library, "cuFileHandleRegister", api.handle_register);
    bind(library, "cuFileHandleDeregister", api.handle_deregister);
    bind(library, "cuFileBufRegister", api.buffer_register);
    bind(library, "cuFileBufDeregister", api.buffer_deregister);
    bind(library, "cuFileRead", api.read);
    bind(library, "cuFileWrite", api.write);
    bind(library, "cuFileGetVersion", api.get_version, true);
    bind(library, "cuFileSetStatsLevel", api.set_stats_level, true);
    bind(library, "cuFileGetStatsLevel", api.get_stats_level, true);
    bind(library, "cuFileStatsStart", api.stats_start, true);
    bind(library, "cuFileGetStatsL3", api.get_stats_l3, true);
    bind(library, "cuFileDriverGetProperties", api.get_properties, true);
    bind(library, "cuFileDriverSetPollMode", api.set_poll_mode, true);
    bind(library, "cuFileDriverSetMaxCacheSize", api.set_max_cache_size, true);
    bind(library, "cuFileDriverSetMaxPinnedMemSize", api.set_max_pinned_memory, true);
}

// What a thread that calls the driver and the one that waits for it share; the first may outlive the second.
struct DriverCall {
    std::mutex mutex;
    std::condition_variable changed;
    bool done = false;
    CufileStatus status;
};

// The call's status, or nothing when it did not return in time. Throws std::system_error when no thread can be had.
std::optional<CufileStatus> call_under_limit(CufileStatus (*function)(), std::uint64_t limit_ns) {
    auto call = std::make_shared<DriverCall>();
    std::optional<BlockedSignals> blocked(std::in_place);  // the library's own threads inherit it too
    std::thread([call, function] {
        const CufileStatus status = function();
        const std::lock_guard lock(call->mutex);
        call->status = status;
        call->done = true;
        call->changed.notify_all();
    }).detach();
    blocked.reset();
    std::unique_lock lock(call->mutex);
    if (!call->changed.wait_for(lock, wait_of(limit_ns), [&] { return call->done; })) {
        return std::nullopt;
    }
    return call->status;
}

// 1.15.1 crashes in its own threads while the process exits, unless its driver was closed before (seen). The end of the
// process must not wait for a close that hangs.
void close_at_exit(CufileStatus (*close)()) {
    static std::atomic<CufileStatus (*)()> to_close{nullptr};
    static std::atomic<pid_t> opened_by{0};
    opened_by.store(::getpid());
    if (close != nullptr && to_close.exchange(close) == nullptr) {
        std::atexit([] {
            constexpr std::uint64_t kPatienceNs = 2'000'000'000;
            if (opened_by.load() != ::getpid()) {
                return;
            }
            try {
                (void)call_under_limit(to_close.load(), kPatienceNs);
            } catch (const std::system_error&) {
                (void)to_close.load()();  // a crash is the likelier end
            }
        });
    }
}

// Why statistics are not there, or nothing once they are.
std::string start_statistics(const CufileApi& api) {
    constexpr int kPerGpu = 3;
    if (api.set_stats_level == nullptr || api.get_stats_l3 == nullptr || api.stats_start == nullptr) {
        return "this libcufile has no statistics calls";
    }
    if (std::string problem = clear_statistics_segment(); !problem.empty()) {
        return problem;
    }
    // Never lowered, reset or stopped: the program may use them too.
    int level = 0;
    if (api.get_stats_level == nullptr || api.get_stats_level(&level).code != kCufileSuccess || level < kPerGpu) {
        const CufileStatus status = api.set_stats_level(kPerGpu);
        if (status.code != kCufileSuccess) {
            return "cuFileSetStatsLevel failed: " + cufile_code_text(status.code);
        }
    }
    const CufileStatus status = api.stats_start();
    return status.code == kCufileSuccess ? "" : "cuFileStatsStart failed: " + cufile_code_text(status.code);
}

class Opener {
public:
    const CufileDriver& open(const CufileOptions& options) {
        if (open_.load() == nullptr) {
            wait_for_driver(options);
        }
        if (options.statistics) {
            const std::lock_guard lock(mutex_);
            want_statistics();
        }
        return driver_;
    }
    [[nodiscard]] const CufileDriver* if_open() const noexcept { return open_.load(std::memory_order_acquire); }

private:
    // Tried once: what this library refuses it refuses again.
    void want_statistics() {
        if (!driver_.statistics && driver_.statistics_problem.load() == nullptr) {
            const std::string problem = start_statistics(driver_.api);
            driver_.statistics_problem = problem.empty() ? nullptr : new const std::string(problem);  // as long as the driver
            driver_.statistics = problem.empty();
        }
    }

    // What made an attempt fail; another library, or more time, may do better.
    using Attempt = std::tuple<std::string, std::string, std::uint64_t, bool>;

    // One that is under way, on a thread of its own: it goes on when nobody waits for it any more.
    struct Opening {
        Attempt attempt;
        bool done = false;
        std::optional<Error> problem;
    };

    void wait_for_driver(const CufileOptions& options) {
        const Attempt attempt(options.library, options.json, options.open_timeout_ns, options.try_in_child_first);
        const auto until = std::chrono::steady_clock::now() + wait_of(options.wait_ns);
        std::unique_lock lock(mutex_);
        while (open_.load() == nullptr) {
            if (!opening_) {
                begin(options, attempt);
            }
            const std::shared_ptr<Opening> opening = opening_;
            const auto done = [&] { return opening->done; };
            if (options.wait_ns == 0) {
                changed_.wait(lock, done);
            } else if (!changed_.wait_until(lock, until, done)) {
                throw Error(ErrorCode::timeout,
                            "cuFileDriverOpen did not return within the request's time limit (time_limit); it goes on, "
                            "and a later request may find the driver open");
            }
            if (opening->problem && opening->attempt == attempt) {
                throw *opening->problem;
            }
        }
    }

    // Under the mutex.
    void begin(const CufileOptions& options, const Attempt& attempt) {
        if (hung_) {
            throw *hung_;
        }
        if (const auto failed = failures_.find(attempt); failed != failures_.end()) {
            throw failed->second;
        }
        auto opening = std::make_shared<Opening>(Opening{attempt, false, std::nullopt});
        try {
            const BlockedSignals blocked;
            std::thread([this, options, opening] { run(options, *opening); }).detach();
        } catch (const std::system_error& problem) {
            throw no_thread(problem);
        }
        opening_ = std::move(opening);
    }

    void run(const CufileOptions& options, Opening& opening) {
        const std::uint64_t start = now_ns();
        std::optional<Error> problem;
        bool of_this_moment = false;
        bool hangs = false;
        try {
            make(options, hangs);
            open_time_ns += now_ns() - start;
        } catch (const Error& error) {
            problem = error;
            of_this_moment = error.code() == ErrorCode::io_error;  // a descriptor, or a child, could not be had
        } catch (const std::system_error& error) {
            problem = no_thread(error);
            of_this_moment = true;
        } catch (const std::exception& error) {
            problem = unavailable(error.what());
            of_this_moment = true;
        }
        const std::lock_guard lock(mutex_);
        if (hangs) {
            hung_ = std::make_unique<Error>(*problem);
        } else if (problem && !of_this_moment) {
            failures_.emplace(opening.attempt, *problem);
        }
        opening.problem = std::move(problem);
        opening.done = true;
        opening_.reset();
        changed_.notify_all();
    }

    static Error no_thread(const std::system_error& problem) {
        return unavailable("no thread can be had that opens its driver under a time limit",
                           native_errno(problem.code().value()));
    }

    void make(const CufileOptions& options, bool& hangs) {
        PropertiesFile properties(options.json);
        if (options.try_in_child_first) {
            const DriverProbe probe = probe_driver(options.library, options.open_timeout_ns);
            if (!probe.opened) {
                throw unavailable("a child process tried cuFileDriverOpen first, and it " + probe.text);
            }
        }
        const Library library = Library::load(options.library);
        if (!library) {
            throw unavailable("the library " + options.library + " cannot be loaded (" + library.problem() + ")");
        }
        bind_all(library, driver_.api);
        driver_.path = library.path();
        if (driver_.api.get_version == nullptr || driver_.api.get_version(&driver_.version).code != kCufileSuccess) {
            driver_.version = 0;
        }
        open_under_limit(options.open_timeout_ns, hangs);
        properties.keep();
        close_at_exit(driver_.api.driver_close);
        open_.store(&driver_, std::memory_order_release);
    }

    void open_under_limit(std::uint64_t limit_ns, bool& hangs) {
        const StandardDescriptors guard;
        const std::optional<CufileStatus> status = call_under_limit(driver_.api.driver_open, limit_ns);
        hangs = !status;
        if (hangs) {
            throw unavailable("cuFileDriverOpen did not return within " + duration_text(limit_ns) +
                              " (driver_timeout); it is not tried again in this process");
        }
        if (status->code != kCufileSuccess) {
            throw unavailable("cuFileDriverOpen failed (" + cufile_code_text(status->code) + ")", native_cufile(*status));
        }
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::shared_ptr<Opening> opening_;
    CufileDriver driver_;  // the opening's until it is open
    std::map<Attempt, Error> failures_;
    std::unique_ptr<Error> hung_;  // a thread is still in a library's driver: no other is tried
    std::atomic<const CufileDriver*> open_{nullptr};
};

// A forked child starts afresh; whether CUDA still works there is checked before.
ForkLocal<Opener> the_opener;

}  // namespace

const CufileDriver& cufile_driver(const CufileOptions& options) {
    return the_opener.get().open(options);
}

const CufileDriver* cufile_if_open() noexcept {
    return the_opener.get().if_open();
}

std::uint64_t cufile_open_ns() noexcept {
    return open_time_ns.load();
}

}  // namespace waybill
