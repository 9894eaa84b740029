#include "cli/patience.hpp"

#include <atomic>

#include "base/clock.hpp"
#include "base/text.hpp"
#include "cli/end.hpp"
#include "waybill/error.hpp"

namespace waybill {
namespace {

std::atomic<bool> interrupted{false};

}  // namespace

// Handlers live in the program alone, never in the library.
Patience::Patience(std::uint64_t limit_ns) : limit_ns_(limit_ns), start_ns_(now_ns()) {
    struct sigaction action {};
    action.sa_handler = [](int signal) {
        if (interrupted.exchange(true)) {
            end_by_interrupt(signal);
        }
    };
    ::sigaction(SIGINT, nullptr, &before_);
    if (before_.sa_handler != SIG_IGN) {
        ::sigaction(SIGINT, &action, nullptr);
    }
}

Patience::~Patience() { ::sigaction(SIGINT, &before_, nullptr); }

std::uint64_t Patience::passed_ns() const noexcept { return now_ns() - start_ns_; }

void Patience::check(const std::string& what) const {
    if (interrupted.load()) {
        throw Error(ErrorCode::interrupted, "interrupted");
    }
    if (limit_ns_ != 0 && passed_ns() > limit_ns_) {
        throw Error(ErrorCode::timeout, what + " did not end within " + duration_text(limit_ns_) + " (time_limit)");
    }
}

}  // namespace waybill
