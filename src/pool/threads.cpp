#include "pool/threads.hpp"

#include <pthread.h>

#include <algorithm>
#include <exception>
#include <thread>

#include "base/forks.hpp"
#include "base/signals.hpp"
#include "base/spin.hpp"

namespace waybill {
namespace {

ForkLocal<Threads> the_threads;

}  // namespace

Threads& Threads::instance() {
    return the_threads.get();
}

void Threads::offer(const std::shared_ptr<SharedWork>& work, std::uint32_t tickets, std::uint32_t most_workers) {
    std::uint32_t spinning = 0;
    {
        const std::lock_guard lock(mutex_);
        // Those that spin see work by themselves; some of them are taken up by what was there before.
        const auto older = static_cast<std::uint32_t>(queue_.size());
        spinning = spinning_ - std::min(spinning_, older);
        queue_.insert(queue_.end(), tickets, work);
        waiting_.fetch_add(tickets, std::memory_order_relaxed);
        const BlockedSignals blocked;
        while (idle_ < queue_.size() && workers_ < most_workers) {
            try {
                std::thread([this] { run(); }).detach();
            } catch (const std::exception&) {
                if (workers_ == 0) {
                    queue_.resize(queue_.size() - tickets);
                    waiting_.fetch_sub(tickets, std::memory_order_relaxed);
                    throw;
                }
                break;  // a limit on threads: the ones there are do it
            }
            ++workers_;
            ++idle_;
        }
    }
    for (std::uint32_t k = spinning; k < tickets; ++k) {
        offered_.notify_one();
    }
}

void Threads::run() {
    ::pthread_setname_np(::pthread_self(), "waybill");
    std::unique_lock lock(mutex_);
    bool fresh = false;  // this worker has just taken part in something: more may follow at once
    while (true) {
        if (fresh && queue_.empty()) {
            ++spinning_;
            lock.unlock();
            (void)spin_until([this] { return others_wait(); });
            lock.lock();
            --spinning_;
        }
        offered_.wait(lock, [this] { return !queue_.empty(); });
        std::shared_ptr<SharedWork> work = std::move(queue_.front());
        queue_.pop_front();
        waiting_.fetch_sub(1, std::memory_order_relaxed);
        --idle_;
        lock.unlock();
        const bool again = work->take_part();
        if (!again) {
            work.reset();  // it may be the last reference, whose end frees the caller's memory: not under the lock
        }
        lock.lock();
        ++idle_;
        fresh = true;
        if (again) {
            queue_.push_back(std::move(work));
            waiting_.fetch_add(1, std::memory_order_relaxed);
        }
    }
}

}  // namespace waybill
