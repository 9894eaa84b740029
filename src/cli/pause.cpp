#include "cli/pause.hpp"

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "base/clock.hpp"
#include "waybill/error.hpp"

namespace waybill {

Pause::Pause(std::optional<std::int64_t> pid) {
    sigset_t interrupt;
    ::sigemptyset(&interrupt);
    ::sigaddset(&interrupt, SIGINT);
    interrupt_ = Fd(::signalfd(-1, &interrupt, SFD_CLOEXEC));
    if (!interrupt_) {
        throw Error(ErrorCode::io_error, "no descriptor for signals can be had", native_errno(errno));
    }
    ::pthread_sigmask(SIG_BLOCK, &interrupt, &before_);
    if (pid) {
        process_ = Fd(static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(*pid), 0)));
    }
}

Pause::~Pause() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

PauseEnd Pause::wait(std::chrono::nanoseconds time) const {
    const std::uint64_t end = now_ns() + static_cast<std::uint64_t>(time.count());
    while (true) {
        const std::uint64_t now = now_ns();
        const std::uint64_t left = end > now ? end - now : 0;
        pollfd watched[] = {{interrupt_.get(), POLLIN, 0}, {process_.get(), POLLIN, 0}};  // poll skips a number under 0
        const timespec limit{static_cast<time_t>(left / 1'000'000'000), static_cast<long>(left % 1'000'000'000)};
        const int ready = ::ppoll(watched, 2, &limit, nullptr);
        if (ready > 0) {
            if (watched[0].revents == 0) {
                return PauseEnd::process_ended;
            }
            signalfd_siginfo taken{};  // or it would end the program once it is let through again
            [[maybe_unused]] const ssize_t count = ::read(interrupt_.get(), &taken, sizeof taken);
            return PauseEnd::interrupted;
        }
        if (ready == 0) {
            return PauseEnd::time;
        }
        if (errno != EINTR) {
            throw Error(ErrorCode::io_error, "waiting failed", native_errno(errno));
        }
    }
}

}  // namespace waybill
