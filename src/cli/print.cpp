#include "cli/print.hpp"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>

#include "base/clock.hpp"
#include "base/fd.hpp"
#include "base/text.hpp"

namespace waybill {
namespace {

std::atomic<bool> interrupted{false};

// Handlers live in the program alone, never in the library.
class InterruptWatch {
public:
    InterruptWatch() {
        struct sigaction action {};
        action.sa_handler = [](int /*signal*/) { interrupted.store(true); };
        action.sa_flags = SA_RESETHAND;  // the second ^C ends the program
        ::sigaction(SIGINT, &action, &before_);
    }
    ~InterruptWatch() { ::sigaction(SIGINT, &before_, nullptr); }
    InterruptWatch(const InterruptWatch&) = delete;
    InterruptWatch& operator=(const InterruptWatch&) = delete;

private:
    struct sigaction before_ {};
};

// Drops what has not started, and does not wait long for the rest.
void give_up(Future& future) {
    constexpr std::chrono::seconds kPatience{1};
    future.cancel();
    if (!future.wait_for(kPatience)) {
        future.detach();
    }
}

}  // namespace

void print(std::string_view text) {
    while (!text.empty()) {
        const ssize_t count = ::write(STDOUT_FILENO, text.data(), text.size());
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0) {
            throw Error(ErrorCode::io_error, "standard output cannot be written", native_errno(errno));
        }
        text.remove_prefix(static_cast<std::size_t>(count));
    }
}

void print_note(std::string_view text) {
    std::fprintf(stderr, "waybill: %.*s\n", static_cast<int>(text.size()), text.data());
}

const Receipt& wait_visibly(Future& future, std::uint64_t limit_ns) {
    const InterruptWatch watch;
    const bool terminal = ::isatty(STDERR_FILENO) == 1;
    const std::uint64_t start = now_ns();
    constexpr std::uint64_t kShowAfterNs = 1'000'000'000;
    bool shown = false;
    while (!future.wait_for(std::chrono::milliseconds(50))) {
        const std::uint64_t passed = now_ns() - start;
        if (interrupted.load()) {
            give_up(future);
            throw Error(ErrorCode::interrupted, "interrupted");
        }
        if (limit_ns != 0 && passed > limit_ns) {
            give_up(future);
            throw Error(ErrorCode::timeout, "the request did not end within " + duration_text(limit_ns) + " (time_limit)");
        }
        if (terminal && passed > kShowAfterNs) {
            shown = true;
            std::fprintf(stderr, "\rwaybill: moving bytes, %s ", duration_text(passed).c_str());
        }
    }
    if (shown) {
        std::fprintf(stderr, "\r\033[K");
    }
    return future.get();
}

}  // namespace waybill
