#include "cli/end.hpp"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <string_view>
#include <thread>

#include "base/leftover.hpp"
#include "base/signals.hpp"
#include "waybill/error.hpp"

namespace waybill {
namespace {

std::atomic<bool> awaited_by_thread{false};

bool is_ignored(int number) {
    struct sigaction now {};
    return ::sigaction(number, nullptr, &now) != 0 || now.sa_handler == SIG_IGN;
}

// Past the stream, which a thread that hangs in a write may hold, and only where nothing waits for a reader.
void say_interrupted() noexcept {
    constexpr std::string_view kText = "waybill: interrupted\n";
    pollfd ready{STDERR_FILENO, POLLOUT, 0};
    if (::poll(&ready, 1, 0) == 1 && (ready.revents & POLLOUT) != 0) {
        [[maybe_unused]] const ssize_t count = ::write(STDERR_FILENO, kText.data(), kText.size());
    }
}

[[noreturn]] void end_by(int number, const sigset_t& awaited) {
    remove_leftovers_for_good();
    if (number == SIGRTMIN) {
        say_interrupted();
        ::_exit(exit_code(ErrorCode::interrupted));
    }
    ::signal(number, SIG_DFL);
    ::pthread_sigmask(SIG_UNBLOCK, &awaited, nullptr);
    ::raise(number);
    ::_exit(exit_code(ErrorCode::internal));
}

}  // namespace

// SIGINT itself is not blocked, so that a command can await it with a handler of its own. A signal that nothing else uses
// stands for it.
void end_by_interrupt(int number) noexcept {
    const int problem = errno;
    if (awaited_by_thread.load()) {
        ::kill(::getpid(), SIGRTMIN);
    } else {
        ::signal(number, SIG_DFL);
        ::raise(number);
    }
    errno = problem;
}

void tidy_up_on_signals() {
    sigset_t awaited;
    ::sigemptyset(&awaited);
    ::sigaddset(&awaited, SIGRTMIN);
    for (const int number : {SIGTERM, SIGHUP}) {
        if (!is_ignored(number)) {
            ::sigaddset(&awaited, number);
        }
    }
    ::pthread_sigmask(SIG_BLOCK, &awaited, nullptr);
    try {
        const BlockedSignals blocked;  // all others are for the threads that wait for them
        std::thread([awaited] {
            int number = 0;
            while (::sigwait(&awaited, &number) != 0) {
            }
            end_by(number, awaited);
        }).detach();
    } catch (const std::exception&) {
        ::pthread_sigmask(SIG_UNBLOCK, &awaited, nullptr);  // no thread can be had: the signals end the program as they always do
        return;
    }
    awaited_by_thread.store(true);
    if (!is_ignored(SIGINT)) {
        ::signal(SIGINT, end_by_interrupt);
    }
}

}  // namespace waybill
