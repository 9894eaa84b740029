// Faults of the kernel's file calls, for files whose path holds the word "faulty". Preloaded.
//
// FAULTY_IO_READ_ERRNO, FAULTY_IO_WRITE_ERRNO: what fails, once FAULTY_IO_AFTER calls have gone well; FAULTY_IO_SHORT=n and
// FAULTY_IO_EINTR=n: every n-th call moves half, or is interrupted; FAULTY_IO_DELAY_US: each call takes longer;
// FAULTY_IO_HANG=1: calls never return; FAULTY_IO_NO_DIRECT=1: calls through O_DIRECT are refused with EINVAL.
// FAULTY_IO_SOURCE_ERRNO: read(2) fails, once FAULTY_IO_AFTER of its calls have gone well; FAULTY_IO_FSYNC_ERRNO: fsync fails.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

#define FAKE_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

uint64_t number_of(const char* variable) {
    const char* text = getenv(variable);
    return text != nullptr ? strtoull(text, nullptr, 10) : 0;
}

bool concerns(int fd) {
    char link[64];
    char path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t size = readlink(link, path, sizeof path - 1);
    if (size <= 0) {
        return false;
    }
    path[size] = '\0';
    return strstr(path, "faulty") != nullptr;
}

std::atomic<uint64_t> calls{0};

// 0: go on with `size`, which may have become smaller; else the errno to fail with.
int fault(int fd, const char* error, size_t& size) {
    if (!concerns(fd)) {
        return 0;
    }
    if (number_of("FAULTY_IO_NO_DIRECT") != 0 && (fcntl(fd, F_GETFL) & O_DIRECT) != 0) {
        return EINVAL;
    }
    while (number_of("FAULTY_IO_HANG") != 0) {
        usleep(10000);
    }
    if (const uint64_t delay = number_of("FAULTY_IO_DELAY_US")) {
        usleep(static_cast<useconds_t>(delay));
    }
    const uint64_t call = ++calls;
    const uint64_t number = number_of(error);
    if (number != 0 && call > number_of("FAULTY_IO_AFTER")) {
        return static_cast<int>(number);
    }
    if (const uint64_t n = number_of("FAULTY_IO_EINTR"); n != 0 && call % n == 0) {
        return EINTR;
    }
    if (const uint64_t n = number_of("FAULTY_IO_SHORT"); n != 0 && call % n == 0 && size > 4096) {
        size = std::max<size_t>(4096, size / 2 / 4096 * 4096);
    }
    return 0;
}

template <class Function>
Function next(const char* name) {
    return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}
using Read = ssize_t (*)(int, void*, size_t, off_t);
using Write = ssize_t (*)(int, const void*, size_t, off_t);
using Vector = ssize_t (*)(int, const iovec*, int, off_t, int);

ssize_t read_at(Read real, int fd, void* to, size_t size, off_t offset) {
    if (const int number = fault(fd, "FAULTY_IO_READ_ERRNO", size)) {
        errno = number;
        return -1;
    }
    return real(fd, to, size, offset);
}

ssize_t write_at(Write real, int fd, const void* from, size_t size, off_t offset) {
    if (const int number = fault(fd, "FAULTY_IO_WRITE_ERRNO", size)) {
        errno = number;
        return -1;
    }
    return real(fd, from, size, offset);
}

ssize_t read_vector(Vector real, int fd, const iovec* parts, int count, off_t offset, int flags) {
    if (count != 1) {
        return real(fd, parts, count, offset, flags);
    }
    iovec part = parts[0];
    if (const int number = fault(fd, "FAULTY_IO_READ_ERRNO", part.iov_len)) {
        errno = number;
        return -1;
    }
    return real(fd, &part, 1, offset, flags);
}

}  // namespace

FAKE_EXPORT ssize_t pread(int fd, void* to, size_t size, off_t offset) {
    static const auto real = next<Read>("pread");
    return read_at(real, fd, to, size, offset);
}
FAKE_EXPORT ssize_t pread64(int fd, void* to, size_t size, off_t offset) {
    static const auto real = next<Read>("pread64");
    return read_at(real, fd, to, size, offset);
}
FAKE_EXPORT ssize_t pwrite(int fd, const void* from, size_t size, off_t offset) {
    static const auto real = next<Write>("pwrite");
    return write_at(real, fd, from, size, offset);
}
FAKE_EXPORT ssize_t pwrite64(int fd, const void* from, size_t size, off_t offset) {
    static const auto real = next<Write>("pwrite64");
    return write_at(real, fd, from, size, offset);
}
FAKE_EXPORT ssize_t preadv2(int fd, const iovec* parts, int count, off_t offset, int flags) {
    static const auto real = next<Vector>("preadv2");
    return read_vector(real, fd, parts, count, offset, flags);
}
FAKE_EXPORT ssize_t preadv64v2(int fd, const iovec* parts, int count, off_t offset, int flags) {
    static const auto real = next<Vector>("preadv64v2");
    return read_vector(real, fd, parts, count, offset, flags);
}
FAKE_EXPORT ssize_t read(int fd, void* to, size_t size) {
    static const auto real = next<ssize_t (*)(int, void*, size_t)>("read");
    static std::atomic<uint64_t> reads{0};
    const uint64_t number = number_of("FAULTY_IO_SOURCE_ERRNO");
    if (number != 0 && concerns(fd) && ++reads > number_of("FAULTY_IO_AFTER")) {
        errno = static_cast<int>(number);
        return -1;
    }
    return real(fd, to, size);
}
FAKE_EXPORT int fsync(int fd) {
    static const auto real = next<int (*)(int)>("fsync");
    const uint64_t number = number_of("FAULTY_IO_FSYNC_ERRNO");
    if (number != 0 && concerns(fd)) {
        errno = static_cast<int>(number);
        return -1;
    }
    return real(fd);
}
