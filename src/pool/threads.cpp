#include "pool/threads.hpp"

#include <pthread.h>

#include <algorithm>
#include <exception>
#include <thread>

#include "base/forks.hpp"
#include "base/signals.hpp"

namespace waybill {
namespace {

ForkLocal<Threads> the_threads;

}  // namespace

Threads& Threads::instance() {
    return the_threads.get();
}

void Threads::offer(const std::shared_ptr<SharedWork>& work, std::uint32_t tickets, std::uint32_t most_workers) {
    {
        const std::lock_guard lock(mutex_);
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
    if (tickets == 1) {
        offered_.notify_one();
    } else {
        offered_.notify_all();
    }
}

void Threads::run() {
    ::pthread_setname_np(::pthread_self(), "waybill");
    std::unique_lock lock(mutex_);
    while (true) {
        offered_.wait(lock, [this] { return !queue_.empty(); });
        const std::shared_ptr<SharedWork> work = std::move(queue_.front());
        queue_.pop_front();
        waiting_.fetch_sub(1, std::memory_order_relaxed);
        --idle_;
        lock.unlock();
        const bool again = work->take_part();
        lock.lock();
        ++idle_;
        if (again) {
            queue_.push_back(work);
            waiting_.fetch_add(1, std::memory_order_relaxed);
        }
    }
}

}  // namespace waybill
