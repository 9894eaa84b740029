// What a fork() of this process leaves in order: ForkLocal and ForkHold.
//
// A forked child has one thread. Locks that other threads held stay locked there for ever, so it must not wait for any.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

namespace waybill {

// While one lives, a fork() in another thread waits for it, at most a second: a child then never inherits, locked, what its
// section locks (the loader's lock, the first use of a static object, a file's own mutex). For short sections. Take it before
// any other lock. Sections of one thread may nest.
class ForkHold {
public:
    ForkHold() noexcept;
    ~ForkHold();
    ForkHold(const ForkHold&) = delete;
    ForkHold& operator=(const ForkHold&) = delete;
};

// How many forks lie between the program's first process and this one: differs in a child from what it was in the parent.
[[nodiscard]] std::uint64_t forks_so_far() noexcept;

// ForkLocal: one object a process, a fresh one in every forked child, which never touches the parent's.
template <class T>
class ForkLocal {
public:
    // Made on first use and never destroyed: threads may use it while the process exits.
    [[nodiscard]] T& get() {
        T* object = object_.load(std::memory_order_acquire);
        if (object != nullptr) {
            return *object;
        }
        const ForkHold hold;  // no child between the object and its handler
        auto* made = new T();
        if (!object_.compare_exchange_strong(object, made, std::memory_order_acq_rel)) {
            delete made;
            return *object;
        }
        slot() = &object_;
        ::pthread_atfork(nullptr, nullptr, [] { slot()->store(nullptr); });
        return *made;
    }

private:
    // One static per T: the handler that pthread_atfork takes has no argument.
    static std::atomic<T*>*& slot() {
        static std::atomic<T*>* object = nullptr;
        return object;
    }
    std::atomic<T*> object_{nullptr};
};

}  // namespace waybill
