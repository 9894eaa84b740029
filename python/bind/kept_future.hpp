// KeptFuture: a request on its way, with the Python objects that it needs: the file and the array.
#pragma once

#include "bind.hpp"

// They are let go by the thread that collects the result or that drops this once all is done: never by a thread that moves
// bytes. Where a request is dropped and the kernel may still write to the array, both wait among the orphans, until the main
// thread hears that it has ended (ended_watch.hpp) or any thread calls the package. All of it under the GIL.
class KeptFuture {
public:
    KeptFuture(waybill::Future future, nb::object keep);
    ~KeptFuture();
    KeptFuture(const KeptFuture&) = delete;
    KeptFuture& operator=(const KeptFuture&) = delete;

    // Throws Error invalid_argument in a forked child.
    [[nodiscard]] const waybill::Future& future() const;
    // Waits at most so long, without the GIL; true when done.
    [[nodiscard]] bool wait_for(double seconds);
    // Waits; the receipt, or throws the request's Error. The Python objects go.
    [[nodiscard]] waybill::Receipt collect();

    // What Python's collector of cycles may follow, and break.
    int traverse(visitproc visit, void* arg) const;
    void let_go() noexcept;

    // Frees what orphans no longer need; returns how many there still are.
    static std::size_t sweep() noexcept;
    // At the interpreter's end: cancels what runs, and waits at most so long for what had started. What hangs beyond that is
    // left to the process, memory and all. So is what a thread waits for: only a daemon's can be left by then, and it must
    // not wake up to raise an exception in an interpreter that ends.
    static void end_all(double seconds) noexcept;

private:
    waybill::Future future_;
    nb::object keep_;
    int process_;  // a forked child must touch nothing of a request of its parent
    int waiting_ = 0;  // threads
    KeptFuture* before_ = nullptr;  // all that are alive
    KeptFuture* after_ = nullptr;
};
