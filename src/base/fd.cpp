#include "base/fd.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace waybill {

void Fd::reset() noexcept {
    if (number_ >= 0) {
        ::close(number_);
        number_ = -1;
    }
}

Fd open_descriptor(const char* path, int flags, unsigned permissions) noexcept {
    int number = -1;
    do {
        number = ::open(path, flags | O_CLOEXEC, permissions);
    } while (number < 0 && errno == EINTR);
    return Fd(number);
}

Fd reopen(int fd, int flags) noexcept {
    char path[32];
    std::snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    Fd again = open_descriptor(path, flags & ~(O_CREAT | O_TRUNC));
    struct stat ours {};
    struct stat theirs {};
    if (!again || ::fstat(fd, &ours) != 0 || ::fstat(again.get(), &theirs) != 0) {
        return Fd();
    }
    if (ours.st_dev != theirs.st_dev || ours.st_ino != theirs.st_ino) {
        again.reset();
        errno = ESTALE;
    }
    return again;
}

std::string errno_name(int number) {
    const char* name = ::strerrorname_np(number);
    return name != nullptr ? name : std::to_string(number);
}

NativeCode native_errno(int number) {
    return {NativeCode::Layer::system, number, errno_name(number)};
}

void throw_if_out_of_descriptors(int problem, const std::string& name) {
    if (problem == EMFILE) {
        throw Error(ErrorCode::io_error, "cannot open '" + name + "': this process has as many files open as it may; close some, or raise the limit (ulimit -n)",
                    native_errno(problem));
    }
    if (problem == ENFILE) {
        throw Error(ErrorCode::io_error, "cannot open '" + name + "': the machine has as many files open as it may (/proc/sys/fs/file-max)", native_errno(problem));
    }
}

std::string_view kind_of_file(unsigned mode) noexcept {
    switch (mode & S_IFMT) {
        case S_IFREG: return "a file";
        case S_IFDIR: return "a directory";
        case S_IFIFO: return "a named pipe (FIFO)";
        case S_IFSOCK: return "a socket";
        case S_IFCHR: return "a character device";
        case S_IFBLK: return "a block device";
        default: return "of no known kind";
    }
}

}  // namespace waybill
