#include "cli/end.hpp"

#include <pthread.h>
#include <signal.h>

#include <thread>

#include "base/leftover.hpp"
#include "base/signals.hpp"

namespace waybill {

void tidy_up_on_signals() {
    sigset_t awaited;
    ::sigemptyset(&awaited);
    for (const int number : {SIGTERM, SIGHUP}) {
        struct sigaction now {};
        if (::sigaction(number, nullptr, &now) == 0 && now.sa_handler != SIG_IGN) {
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
            remove_leftovers_for_good();
            ::signal(number, SIG_DFL);
            ::pthread_sigmask(SIG_UNBLOCK, &awaited, nullptr);
            ::raise(number);
        }).detach();
    } catch (const std::exception&) {
        ::pthread_sigmask(SIG_UNBLOCK, &awaited, nullptr);  // no thread can be had: the signals end the program as they always do
    }
}

}  // namespace waybill
