#include "base/read_ahead.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "base/clock.hpp"
#include "base/fd.hpp"

namespace waybill {
namespace {

// NFS, with the largest default, goes up to this.
constexpr std::uint64_t kUnknownBytes = std::uint64_t{16} << 20;

// An administrator may change it at any time.
constexpr std::uint64_t kKeepNs = 1'000'000'000;

std::uint64_t ask(dev_t device) noexcept {
    // The first knows disks and file systems without one, the others the disk of a partition or of a volume.
    for (const char* form : {"/sys/class/bdi/%u:%u/read_ahead_kb", "/sys/dev/block/%u:%u/queue/read_ahead_kb",
                             "/sys/dev/block/%u:%u/../queue/read_ahead_kb"}) {
        char path[96];
        std::snprintf(path, sizeof path, form, major(device), minor(device));
        const Fd file(::open(path, O_RDONLY | O_CLOEXEC));
        char text[32] = {};
        if (file && ::read(file.get(), text, sizeof text - 1) > 0) {
            return std::strtoull(text, nullptr, 10) * 1024;
        }
    }
    return kUnknownBytes;
}

}  // namespace

std::uint64_t read_ahead_bytes(int fd) noexcept {
    struct Answer {
        dev_t device = 0;
        std::uint64_t bytes = 0;
        std::uint64_t since_ns = 0;
    };
    thread_local Answer last;  // many requests in a row are of one device
    struct stat state {};
    if (::fstat(fd, &state) != 0) {
        return kUnknownBytes;
    }
    const std::uint64_t now = now_ns();
    if (last.since_ns == 0 || last.device != state.st_dev || now - last.since_ns > kKeepNs) {
        last = {state.st_dev, ask(state.st_dev), now};
    }
    return last.bytes;
}

}  // namespace waybill
