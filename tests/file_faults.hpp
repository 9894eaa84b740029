// Faults of the kernel's file calls, decided by the test that runs.
//
// pread, preadv2 and pwrite are defined in the test program (file_faults.cpp) and exported, so that the stand-in of libcufile
// meets the faults too. They concern regular files on the file systems of /tmp and /dev/shm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <mutex>
#include <shared_mutex>

namespace waybill {

struct FileCall {
    int fd = -1;
    bool write = false;
    bool direct = false;  // O_DIRECT
    bool nowait = false;  // RWF_NOWAIT
    std::uint64_t offset = 0;
    std::size_t size_bytes = 0;
};

struct FileFault {
    int error = 0;  // errno; 0: the call is made
    std::size_t most_bytes = std::numeric_limits<std::size_t>::max();
};

// While one lives, every call is asked about first; from any thread. One at a time.
class FileFaults {
public:
    using Decide = std::function<FileFault(const FileCall&)>;
    explicit FileFaults(Decide decide) {
        const std::lock_guard lock(mutex());
        current() = std::move(decide);
    }
    ~FileFaults() {
        const std::lock_guard lock(mutex());
        current() = nullptr;
    }
    FileFaults(const FileFaults&) = delete;
    FileFaults& operator=(const FileFaults&) = delete;

    [[nodiscard]] static FileFault of(const FileCall& call) {
        const std::shared_lock lock(mutex());
        return current() ? current()(call) : FileFault();
    }

private:
    static std::shared_mutex& mutex() {
        static std::shared_mutex& one = *new std::shared_mutex();
        return one;
    }
    static Decide& current() {
        static Decide& one = *new Decide();
        return one;
    }
};

// About half of a call, and what O_DIRECT can give.
inline std::size_t half_of(const FileCall& call) noexcept {
    constexpr std::size_t kAlign = 4096;
    return call.size_bytes <= kAlign ? call.size_bytes : (call.size_bytes / 2 + kAlign - 1) / kAlign * kAlign;
}

}  // namespace waybill
