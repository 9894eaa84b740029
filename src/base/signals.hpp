// BlockedSignals: while one lives, no signal is served on this thread, nor on threads that it starts.
//
// Signals belong to the program's own threads.
#pragma once

#include <pthread.h>
#include <signal.h>

namespace waybill {

class BlockedSignals {
public:
    BlockedSignals() noexcept {
        sigset_t all;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~BlockedSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    BlockedSignals(const BlockedSignals&) = delete;
    BlockedSignals& operator=(const BlockedSignals&) = delete;

private:
    sigset_t before_{};
};

}  // namespace waybill
