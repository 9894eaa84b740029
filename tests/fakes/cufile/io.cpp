#include <dlfcn.h>
#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <set>

#include "fake.hpp"

using namespace fake;

namespace {

constexpr int kHandleNotRegistered = 5027;
constexpr int kInvalidValue = 5022;
constexpr int kMemoryAlreadyRegistered = 5023;
constexpr int kMemoryNotRegistered = 5024;
constexpr std::size_t kAlign = 4096;
constexpr std::size_t kBounceBytes = std::size_t{4} << 20;

struct Handle {
    int fd = -1;
    bool direct = false;
    int buffered = -1;  // for writes that O_DIRECT does not take
};

struct Registered {
    std::mutex mutex;
    std::set<Handle*> handles;
    std::set<const void*> buffers;
};
Registered& registered() {
    static Registered& all = *new Registered();
    return all;
}

bool knows(Handle* handle) {
    const std::lock_guard lock(registered().mutex);
    return registered().handles.count(handle) != 0;
}

// The driver library of this process, for copies into device memory.
struct Cuda {
    int (*pointer_attribute)(void*, int, unsigned long long) = nullptr;
    int (*to_device)(unsigned long long, const void*, std::size_t) = nullptr;
    int (*to_host)(void*, unsigned long long, std::size_t) = nullptr;
    Cuda() {
        if (void* const library = ::dlopen("libcuda.so.1", RTLD_NOW)) {
            pointer_attribute = reinterpret_cast<decltype(pointer_attribute)>(::dlsym(library, "cuPointerGetAttribute"));
            to_device = reinterpret_cast<decltype(to_device)>(::dlsym(library, "cuMemcpyHtoD_v2"));
            to_host = reinterpret_cast<decltype(to_host)>(::dlsym(library, "cuMemcpyDtoH_v2"));
        }
    }
};
const Cuda& cuda() {
    static const Cuda& calls = *new Cuda();
    return calls;
}

// The GPU of an address, or -1 for host memory.
int device_of(const void* pointer) {
    unsigned type = 0;
    int device = -1;
    const auto address = reinterpret_cast<unsigned long long>(pointer);
    if (cuda().pointer_attribute == nullptr || cuda().pointer_attribute(&type, 2, address) != 0 || type != 2) {
        return -1;
    }
    cuda().pointer_attribute(&device, 9, address);
    return device;
}

// A wait, and the results that a fault asks for: below zero, or 0 for none.
ssize_t fault(const char* error, const char* number) {
    if (const std::uint64_t delay = number_of("FAKE_CUFILE_DELAY_US", 0)) {
        ::usleep(static_cast<useconds_t>(delay));
    }
    if (const int code = fault_of(error)) {
        return -code;
    }
    if (const int code = fault_of(number)) {
        errno = code;
        return -1;
    }
    return 0;
}

struct Free {
    void operator()(std::byte* bytes) const { std::free(bytes); }
};

// Any offset works, through an aligned buffer, as cuFile reads unaligned ranges.
ssize_t read_bytes(const Handle& handle, std::byte* to, std::size_t size, off_t offset, int device) {
    const std::unique_ptr<std::byte, Free> bounce(static_cast<std::byte*>(std::aligned_alloc(kAlign, kBounceBytes + 2 * kAlign)));
    std::size_t done = 0;
    while (done < size) {
        const off_t at = offset + static_cast<off_t>(done);
        const std::size_t lead = handle.direct ? static_cast<std::size_t>(at) % kAlign : 0;
        const std::size_t want = std::min(size - done, kBounceBytes);
        const std::size_t ask = handle.direct ? (lead + want + kAlign - 1) / kAlign * kAlign : want;
        const ssize_t count = ::pread(handle.fd, bounce.get(), ask, at - static_cast<off_t>(lead));
        if (count < 0) {
            return -1;
        }
        if (static_cast<std::size_t>(count) <= lead) {
            break;
        }
        const std::size_t got = std::min(static_cast<std::size_t>(count) - lead, want);
        if (device < 0) {
            std::memcpy(to + done, bounce.get() + lead, got);
        } else if (cuda().to_device(reinterpret_cast<unsigned long long>(to + done), bounce.get() + lead, got) != 0) {
            errno = EIO;
            return -1;
        }
        done += got;
        if (got < want) {
            break;
        }
    }
    return static_cast<ssize_t>(done);
}

ssize_t write_bytes(const Handle& handle, const std::byte* from, std::size_t size, off_t offset, int device) {
    const bool aligned = static_cast<std::size_t>(offset) % kAlign == 0 && size % kAlign == 0;
    const int fd = handle.direct && !aligned ? handle.buffered : handle.fd;
    const std::unique_ptr<std::byte, Free> bounce(static_cast<std::byte*>(std::aligned_alloc(kAlign, kBounceBytes)));
    std::size_t done = 0;
    while (done < size) {
        const std::size_t want = std::min(size - done, kBounceBytes);
        if (device < 0) {
            std::memcpy(bounce.get(), from + done, want);
        } else if (cuda().to_host(bounce.get(), reinterpret_cast<unsigned long long>(from + done), want) != 0) {
            errno = EIO;
            return -1;
        }
        const ssize_t count = ::pwrite(fd, bounce.get(), want, offset + static_cast<off_t>(done));
        if (count < 0) {
            return -1;
        }
        if (count == 0) {
            break;
        }
        done += static_cast<std::size_t>(count);
    }
    return static_cast<ssize_t>(done);
}

}  // namespace

struct Description {
    int kind;
    union {
        int fd;
        void* handle;
    };
    const void* operations;
};

FAKE_EXPORT Status cuFileHandleRegister(void** handle, Description* description) {
    if (const int code = fault_of("FAKE_CUFILE_REGISTER_ERROR")) {
        return {code, 0};
    }
    const int flags = ::fcntl(description->fd, F_GETFL);
    if (description->kind != 1 || flags < 0) {
        return {kInvalidValue, 0};
    }
    auto* const made = new Handle{::fcntl(description->fd, F_DUPFD_CLOEXEC, 3), (flags & O_DIRECT) != 0};
    if (made->direct) {
        char path[64];
        std::snprintf(path, sizeof path, "/proc/self/fd/%d", description->fd);
        made->buffered = ::open(path, (flags & O_ACCMODE) | O_CLOEXEC);
    }
    const std::lock_guard lock(registered().mutex);
    registered().handles.insert(made);
    *handle = made;
    return success();
}

FAKE_EXPORT void cuFileHandleDeregister(void* handle) {
    auto* const known = static_cast<Handle*>(handle);
    const std::lock_guard lock(registered().mutex);
    if (registered().handles.erase(known) != 0) {
        ::close(known->fd);
        if (known->buffered >= 0) {
            ::close(known->buffered);
        }
        delete known;
    }
}

FAKE_EXPORT Status cuFileBufRegister(const void* pointer, std::size_t size, int /*flags*/) {
    if (const int code = fault_of("FAKE_CUFILE_BUF_REGISTER_ERROR")) {
        return {code, 0};
    }
    if (pointer == nullptr || size == 0) {
        return {kInvalidValue, 0};
    }
    const std::lock_guard lock(registered().mutex);
    return registered().buffers.insert(pointer).second ? success() : Status{kMemoryAlreadyRegistered, 0};
}

FAKE_EXPORT Status cuFileBufDeregister(const void* pointer) {
    const std::lock_guard lock(registered().mutex);
    return registered().buffers.erase(pointer) != 0 ? success() : Status{kMemoryNotRegistered, 0};
}

FAKE_EXPORT ssize_t cuFileRead(void* handle, void* base, std::size_t size, off_t file_offset, off_t buffer_offset) {
    auto* const known = static_cast<Handle*>(handle);
    if (!knows(known)) {
        return -kHandleNotRegistered;
    }
    std::byte* const to = static_cast<std::byte*>(base) + buffer_offset;
    const int device = device_of(to);
    ssize_t result = fault("FAKE_CUFILE_READ_ERROR", "FAKE_CUFILE_READ_ERRNO");
    if (result == 0) {
        const std::size_t ask = every_nth("FAKE_CUFILE_SHORT") ? std::max<std::size_t>(1, size / 2) : size;
        result = read_bytes(*known, to, ask, file_offset, device);
    }
    const int kept = errno;
    count(true, device, result > 0 ? static_cast<std::uint64_t>(result) : 0, file_offset % 4096 != 0, result < 0);
    errno = kept;
    return result;
}

FAKE_EXPORT ssize_t cuFileWrite(void* handle, const void* base, std::size_t size, off_t file_offset, off_t buffer_offset) {
    auto* const known = static_cast<Handle*>(handle);
    if (!knows(known)) {
        return -kHandleNotRegistered;
    }
    const std::byte* const from = static_cast<const std::byte*>(base) + buffer_offset;
    const int device = device_of(from);
    ssize_t result = fault("FAKE_CUFILE_WRITE_ERROR", "FAKE_CUFILE_WRITE_ERRNO");
    if (result == 0) {
        result = write_bytes(*known, from, size, file_offset, device);
    }
    const int kept = errno;
    count(false, device, result > 0 ? static_cast<std::uint64_t>(result) : 0, file_offset % 4096 != 0, result < 0);
    errno = kept;
    return result;
}
