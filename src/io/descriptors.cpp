#include "io/descriptors.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/forks.hpp"

namespace waybill {

Descriptors::~Descriptors() {
    // In a forked child the handles are the parent's.
    if (driver_ != nullptr && driver_ == cufile_if_open()) {
        for (const CufileHandle handle : handles_) {
            if (handle != nullptr) {
                driver_->api.handle_deregister(handle);
            }
        }
    }
}

int Descriptors::random() {
    const ForkHold hold;
    const std::lock_guard lock(mutex_);
    if (!random_tried_) {
        random_tried_ = true;
        random_ = reopen(buffered_.get(), O_RDONLY);
        if (random_ && ::posix_fadvise(random_.get(), 0, 0, POSIX_FADV_RANDOM) != 0) {
            random_.reset();
        }
    }
    return random_.get();
}

int Descriptors::direct() {
    const ForkHold hold;
    const std::lock_guard lock(mutex_);
    return direct_locked();
}

int Descriptors::direct_locked() {
    if (!direct_tried_) {
        const int access = ::fcntl(buffered_.get(), F_GETFL) & O_ACCMODE;
        direct_ = reopen(buffered_.get(), access | O_DIRECT);
        direct_problem_ = direct_ ? 0 : errno;
        direct_tried_ = direct_problem_ != EMFILE && direct_problem_ != ENFILE;  // those are of this moment
    }
    return direct_.get();
}

std::optional<Error> Descriptors::sync(const std::string& name) const {
    int problem = 0;
    do {
        problem = ::fsync(buffered_.get()) == 0 ? 0 : errno;
    } while (problem == EINTR);
    if (problem == 0) {
        return std::nullopt;
    }
    return Error(problem == ENOSPC || problem == EDQUOT ? ErrorCode::disk_full : ErrorCode::io_error,
                 "fsync of '" + name + "' failed: the bytes may not be on storage", native_errno(problem));
}

CufileHandle Descriptors::cufile_handle(const CufileDriver& driver, bool direct, const std::string& name) {
    const ForkHold hold;
    const std::lock_guard lock(mutex_);
    CufileHandle& handle = handles_[direct ? 1 : 0];
    if (handle == nullptr) {
        CufileDescription description;
        description.descriptor = direct ? direct_locked() : buffered_.get();
        if (description.descriptor < 0) {
            throw_if_out_of_descriptors(direct_problem_, name);
            throw Error(ErrorCode::cufile_unavailable,
                        "cuFile cannot be used for '" + name +
                            "': it cannot be opened with O_DIRECT, which a direct path needs",
                        native_errno(direct_problem_));
        }
        CufileHandle made = nullptr;
        check_cufile(driver.api.handle_register(&made, &description), "cuFileHandleRegister");
        handle = made;
        driver_ = &driver;
    }
    return handle;
}

}  // namespace waybill
