#include "file_faults.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>

namespace {

template <class Function>
Function next(const char* name) {
    return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

bool concerns(int fd) {
    const auto device_of = [](const char* folder) {
        struct stat state {};
        return ::stat(folder, &state) == 0 ? state.st_dev : 0;
    };
    static const dev_t on_disk = device_of("/tmp");
    static const dev_t in_memory = device_of("/dev/shm");
    struct stat state {};
    return ::fstat(fd, &state) == 0 && S_ISREG(state.st_mode) && (state.st_dev == on_disk || state.st_dev == in_memory);
}

// The bytes that the call may move, or -1 with errno.
ssize_t allowed(waybill::FileCall call) {
    if (!concerns(call.fd)) {
        return static_cast<ssize_t>(call.size_bytes);
    }
    call.direct = (::fcntl(call.fd, F_GETFL) & O_DIRECT) != 0;
    const waybill::FileFault fault = waybill::FileFaults::of(call);
    if (fault.error != 0) {
        errno = fault.error;
        return -1;
    }
    return static_cast<ssize_t>(std::min(call.size_bytes, fault.most_bytes));
}

}  // namespace

extern "C" {

ssize_t pread(int fd, void* to, size_t size, off_t offset) {
    static const auto real = next<ssize_t (*)(int, void*, size_t, off_t)>("pread");
    const ssize_t most = allowed({fd, false, false, false, static_cast<std::uint64_t>(offset), size});
    return most < 0 ? -1 : real(fd, to, static_cast<size_t>(most), offset);
}

ssize_t pwrite(int fd, const void* from, size_t size, off_t offset) {
    static const auto real = next<ssize_t (*)(int, const void*, size_t, off_t)>("pwrite");
    const ssize_t most = allowed({fd, true, false, false, static_cast<std::uint64_t>(offset), size});
    return most < 0 ? -1 : real(fd, from, static_cast<size_t>(most), offset);
}

ssize_t preadv2(int fd, const iovec* parts, int count, off_t offset, int flags) {
    static const auto real = next<ssize_t (*)(int, const iovec*, int, off_t, int)>("preadv2");
    if (count != 1) {
        return real(fd, parts, count, offset, flags);
    }
    const bool nowait = (flags & RWF_NOWAIT) != 0;
    const ssize_t most = allowed({fd, false, false, nowait, static_cast<std::uint64_t>(offset), parts->iov_len});
    const iovec part{parts->iov_base, static_cast<size_t>(most)};
    return most < 0 ? -1 : real(fd, &part, 1, offset, flags);
}

}  // extern "C"
