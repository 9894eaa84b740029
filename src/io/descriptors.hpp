// Descriptors: what one open file holds of the kernel and of cuFile, until the last request that uses it ends.
#pragma once

#include <array>
#include <mutex>
#include <optional>
#include <string>

#include "base/fd.hpp"
#include "engine/engine.hpp"
#include "gpu/cufile.hpp"

namespace waybill {

class Descriptors {
public:
    explicit Descriptors(Fd buffered) noexcept : buffered_(std::move(buffered)) {}
    ~Descriptors();
    Descriptors(const Descriptors&) = delete;
    Descriptors& operator=(const Descriptors&) = delete;

    [[nodiscard]] int buffered() const noexcept { return buffered_.get(); }
    // The second ones are opened on first need; -1 where that is refused. Thread-safe.
    [[nodiscard]] int random();
    [[nodiscard]] int direct();

    // This file's handle, registered on first need with the O_DIRECT or the buffered descriptor.
    // Throws Error cufile_error; where O_DIRECT is refused cufile_unavailable, at the limit of open files io_error.
    [[nodiscard]] CufileHandle cufile_handle(const CufileDriver& driver, bool direct, const std::string& name);

    // fsync; the error of a file of this name.
    [[nodiscard]] std::optional<Error> sync(const std::string& name) const;

private:
    int direct_locked();

    Fd buffered_;
    std::mutex mutex_;
    Fd random_;
    Fd direct_;
    bool random_tried_ = false;
    bool direct_tried_ = false;
    int direct_problem_ = 0;  // errno of an open that was refused
    std::array<CufileHandle, 2> handles_{};  // buffered, direct
    const CufileDriver* driver_ = nullptr;
};

}  // namespace waybill
