#include "waybill/future.hpp"

#include <new>

#include "io/transfer.hpp"

namespace waybill {

Future::Future() noexcept = default;
Future::Future(std::shared_ptr<Transfer> transfer) noexcept : transfer_(std::move(transfer)) {}
Future::Future(Future&&) noexcept = default;

namespace {

Transfer& checked(const std::shared_ptr<Transfer>& transfer) {
    if (!transfer) {
        throw Error(ErrorCode::invalid_argument, "this Future stands for no request: it was moved from or detached");
    }
    if (!transfer->of_this_process()) {
        throw Error(ErrorCode::invalid_argument,
                    "this Future was inherited by a fork: its bytes arrive in the parent's memory; read again in the child");
    }
    return *transfer;
}

// In a forked child its locks may be held for ever: not even its destructor may run.
void leave_to_parent(std::shared_ptr<Transfer>& transfer) noexcept {
    static_cast<void>(new (std::nothrow) std::shared_ptr<Transfer>(std::move(transfer)));
}

// No byte may arrive in memory that its owner believes to be free.
void drop(std::shared_ptr<Transfer>& transfer) noexcept {
    if (transfer && !transfer->of_this_process()) {
        leave_to_parent(transfer);
    } else if (transfer) {
        transfer->cancel();
        transfer->wait();
        transfer->release_owners();
    }
}

}  // namespace

Future& Future::operator=(Future&& other) noexcept {
    if (this != &other) {
        drop(transfer_);
        transfer_ = std::move(other.transfer_);
    }
    return *this;
}

Future::~Future() {
    drop(transfer_);
}

bool Future::valid() const noexcept {
    return transfer_ != nullptr;
}

bool Future::done() const {
    return checked(transfer_).done();
}

void Future::wait() const {
    checked(transfer_).wait();
}

bool Future::wait_for(std::chrono::nanoseconds limit) const {
    return checked(transfer_).wait_for(limit);
}

std::uint64_t Future::moved_bytes() const {
    return checked(transfer_).moved_bytes();
}

const Receipt& Future::get() const {
    Transfer& transfer = checked(transfer_);
    transfer.wait();
    return transfer.result();
}

bool Future::cancel() const {
    return checked(transfer_).cancel();
}

int Future::event_descriptor() const {
    return checked(transfer_).event_descriptor();
}

void Future::detach() noexcept {
    if (transfer_ && !transfer_->of_this_process()) {
        leave_to_parent(transfer_);
    }
    transfer_.reset();
}

}  // namespace waybill
