#include "bench/test_file.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <random>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"
#include "waybill/error.hpp"

namespace waybill {
namespace {

constexpr std::uint64_t kChunkBytes = std::uint64_t{4} << 20;

[[noreturn]] void fail(const std::string& folder, const char* what) {
    throw Error(errno == ENOSPC ? ErrorCode::disk_full : ErrorCode::io_error,
                fmt::format("cannot {} a file to measure with in '{}'; name one of yours, or a smaller --size", what, folder),
                native_errno(errno));
}

}  // namespace

TestFile::TestFile(const std::string& folder, std::uint64_t size_bytes) {
    std::string name = folder + "/.waybill-bench-XXXXXX";
    fd_ = Fd(::mkostemp(name.data(), O_CLOEXEC));
    if (!fd_) {
        fail(folder, "make");
    }
    ::unlink(name.c_str());
    std::mt19937_64 random(1);
    std::vector<std::uint64_t> chunk(kChunkBytes / sizeof(std::uint64_t));
    for (std::uint64_t& word : chunk) {
        word = random();
    }
    for (std::uint64_t at = 0; at < size_bytes;) {
        chunk[0] = at;  // no two chunks are the same
        const ssize_t count = ::write(fd_.get(), chunk.data(), std::min(kChunkBytes, size_bytes - at));
        if (count < 0 && errno != EINTR) {
            fail(folder, "write");
        }
        at += static_cast<std::uint64_t>(std::max<ssize_t>(0, count));
    }
    if (::fdatasync(fd_.get()) != 0 && errno != EINVAL) {
        fail(folder, "sync");
    }
}

std::string TestFile::path() const {
    return fmt::format("/proc/self/fd/{}", fd_.get());
}

}  // namespace waybill
