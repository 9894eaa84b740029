// Owner of a file descriptor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "waybill/error.hpp"

namespace waybill {

class Fd {
public:
    Fd() noexcept = default;
    explicit Fd(int number) noexcept : number_(number) {}
    Fd(Fd&& other) noexcept : number_(other.release()) {}
    Fd& operator=(Fd&& other) noexcept {
        if (this != &other) {
            reset();
            number_ = other.release();
        }
        return *this;
    }
    Fd(const Fd&) = delete;
    Fd& operator=(const Fd&) = delete;
    ~Fd() { reset(); }

    [[nodiscard]] int get() const noexcept { return number_; }
    [[nodiscard]] explicit operator bool() const noexcept { return number_ >= 0; }
    int release() noexcept {
        const int number = number_;
        number_ = -1;
        return number;
    }
    void reset() noexcept;

private:
    int number_ = -1;
};

// open(2) with O_CLOEXEC, tried again where a signal interrupts it, as on network file systems. Empty on failure, with errno set.
[[nodiscard]] Fd open_descriptor(const char* path, int flags, unsigned permissions = 0) noexcept;

// A second open file description of the file behind `fd`, through /proc/self/fd, with `flags` and never O_CREAT or
// O_TRUNC. Empty, with errno set, when the open is refused or leads to another file (ESTALE; device and inode are
// compared).
[[nodiscard]] Fd reopen(int fd, int flags) noexcept;

// "EIO" for 5.
[[nodiscard]] std::string errno_name(int number);
// {system, 5, "EIO"}
[[nodiscard]] NativeCode native_errno(int number);

// Throws Error io_error that says which limit was met, where opening `name` failed for want of a descriptor (EMFILE, ENFILE).
void throw_if_out_of_descriptors(int problem, const std::string& name);

// "a named pipe (FIFO)", "a character device" ... of a file's st_mode.
[[nodiscard]] std::string_view kind_of_file(unsigned mode) noexcept;

}  // namespace waybill
