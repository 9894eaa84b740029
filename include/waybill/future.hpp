// Future: a request that is on its way.
//
// Moveable, not copyable; one thread at a time may use one Future (cancel() is the exception: any thread may call it). It
// keeps file and memory owner alive. Dropping it cancels what has not started and waits for the rest, so that no byte
// arrives in memory that is gone. A forked child may drop the Futures that it inherits, and nothing else: their bytes arrive in
// the parent.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "waybill/receipt.hpp"

namespace waybill {

struct Transfer;  // src/io

// One request, or the requests of one call.
class Future {
public:
    // Stands for no request; pread() and its like give those that do.
    Future() noexcept;
    explicit Future(std::shared_ptr<Transfer> transfer) noexcept;
    Future(Future&&) noexcept;
    Future& operator=(Future&&) noexcept;
    Future(const Future&) = delete;
    Future& operator=(const Future&) = delete;
    ~Future();

    // False for a default-constructed or moved-from Future; the calls below then throw Error invalid_argument.
    [[nodiscard]] bool valid() const noexcept;

    // True once the receipt or the error is there. Never blocks.
    [[nodiscard]] bool done() const;

    // Blocks until done.
    void wait() const;

    // Blocks until done or until the time is over; returns done(). The request goes on after a time-out.
    [[nodiscard]] bool wait_for(std::chrono::nanoseconds limit) const;

    // Bytes that have arrived so far, not always from the beginning on: to show progress. Never blocks for long.
    [[nodiscard]] std::uint64_t moved_bytes() const;

    // Waits, then returns the receipt or throws the request's Error. May be called again: the same answer.
    [[nodiscard]] const Receipt& get() const;

    // Drops the tasks that have not started. True when at least one was dropped: get() then throws Error cancelled,
    // whose receipt lists the good ranges.
    bool cancel() const;

    // A descriptor that becomes readable when done, for poll and event loops; owned by the Future. Throws Error io_error
    // when no descriptor can be had.
    [[nodiscard]] int event_descriptor() const;

    // Lets go without waiting: file and memory owner stay alive until the kernel is done with them. Used at a time-out.
    void detach() noexcept;

private:
    std::shared_ptr<Transfer> transfer_;
};

}  // namespace waybill
