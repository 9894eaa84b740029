#include "cli/print.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/fd.hpp"
#include "base/text.hpp"

namespace waybill {
namespace {

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

const Receipt& wait_visibly(Future& future, const Patience& patience) {
    const bool terminal = ::isatty(STDERR_FILENO) == 1;
    constexpr std::uint64_t kShowAfterNs = 1'000'000'000;
    bool shown = false;
    while (!future.wait_for(Patience::kLook)) {
        try {
            patience.check("the request");
        } catch (const Error&) {
            give_up(future);
            throw;
        }
        if (terminal && patience.passed_ns() > kShowAfterNs) {
            shown = true;
            std::fprintf(stderr, "\rwaybill: moving bytes, %s ", duration_text(patience.passed_ns()).c_str());
        }
    }
    if (shown) {
        std::fprintf(stderr, "\r\033[K");
    }
    return future.get();
}

}  // namespace waybill
