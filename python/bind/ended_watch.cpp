#include "ended_watch.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <mutex>
#include <thread>

#include "kept_future.hpp"

namespace {

// Never destroyed: its thread may wait for what hangs until the process is gone.
struct Watch {
    int process = 0;
    int epoll = -1;
    std::mutex mutex;  // between a pending call and the end
    bool ended = false;
};

int sweep(void* /*none*/) {
    KeptFuture::sweep();
    return 0;
}

void wait_and_tell(Watch& watch) {
    while (true) {
        epoll_event event{};
        if (::epoll_wait(watch.epoll, &event, 1, -1) < 1) {
            if (errno == EINTR) {
                continue;
            }
            return;
        }
        ::epoll_ctl(watch.epoll, EPOLL_CTL_DEL, event.data.fd, nullptr);
        ::close(event.data.fd);
        const std::lock_guard lock(watch.mutex);
        if (!watch.ended) {
            static_cast<void>(Py_AddPendingCall(&sweep, nullptr));  // a full queue holds a sweep already
        }
    }
}

// Signals are Python's main thread's.
void start(Watch& watch) {
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
        std::thread([&watch] { wait_and_tell(watch); }).detach();
    } catch (const std::exception&) {
        ::close(watch.epoll);
        watch.epoll = -1;
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// A forked child has no such thread, and begins anew.
Watch*& current() noexcept {
    static Watch* one = nullptr;
    if (one != nullptr && one->process != ::getpid()) {
        one = nullptr;
    }
    return one;
}

}  // namespace

void ended_watch::add(int event_descriptor) noexcept {
    Watch*& watch = current();
    if (watch == nullptr) {
        watch = new Watch{::getpid(), ::epoll_create1(EPOLL_CLOEXEC), {}, false};
        if (watch->epoll >= 0) {
            start(*watch);
        }
    }
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = ::fcntl(event_descriptor, F_DUPFD_CLOEXEC, 0);  // its own: the request's goes with the request
    if (event.data.fd >= 0 && ::epoll_ctl(watch->epoll, EPOLL_CTL_ADD, event.data.fd, &event) != 0) {
        ::close(event.data.fd);
    }
}

void ended_watch::end() noexcept {
    if (Watch* const watch = current()) {
        const std::lock_guard lock(watch->mutex);
        watch->ended = true;
    }
}
