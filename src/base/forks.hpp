// ForkLocal: one object a process, a fresh one in every forked child.
//
// The child never touches the parent's object: its locks may be held by threads that do not exist there.
#pragma once

#include <pthread.h>

#include <atomic>

namespace waybill {

template <class T>
class ForkLocal {
public:
    // Made on first use and never destroyed: threads may use it while the process exits.
    [[nodiscard]] T& get() {
        T* object = object_.load(std::memory_order_acquire);
        if (object != nullptr) {
            return *object;
        }
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
