#include "bench/cache.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include <fmt/format.h>

#include "base/fd.hpp"
#include "base/text.hpp"
#include "waybill/error.hpp"
#include "waybill/facts.hpp"

namespace waybill {
namespace {

constexpr std::uint64_t kChunkBytes = std::uint64_t{4} << 20;
// A few pages that somebody else touched meanwhile are no matter.
constexpr double kTolerated = 0.01;

Fd open_to_read(const std::string& file) {
    Fd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd) {
        throw Error(ErrorCode::io_error, fmt::format("cannot open '{}'", file), native_errno(errno));
    }
    return fd;
}

}  // namespace

void bring_into_cache(const std::string& file, std::uint64_t size_bytes) {
    const Fd fd = open_to_read(file);
    std::vector<char> chunk(kChunkBytes);
    for (std::uint64_t at = 0; at < size_bytes;) {
        const ssize_t count =
            ::pread(fd.get(), chunk.data(), std::min(kChunkBytes, size_bytes - at), static_cast<off_t>(at));
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            throw Error(ErrorCode::io_error, fmt::format("cannot read '{}' at {}", file, at), native_errno(count < 0 ? errno : 0));
        }
        at += static_cast<std::uint64_t>(count);
    }
}

std::string drop_from_cache(const std::string& file, std::uint64_t size_bytes) {
    const Fd fd = open_to_read(file);
    if (::fdatasync(fd.get()) != 0 && errno != EINVAL && errno != EROFS) {
        throw Error(ErrorCode::io_error, fmt::format("cannot sync '{}'", file), native_errno(errno));
    }
    const int problem = ::posix_fadvise(fd.get(), 0, static_cast<off_t>(size_bytes), POSIX_FADV_DONTNEED);
    if (problem != 0) {
        return fmt::format("the file cannot be dropped from the page cache (posix_fadvise: errno {})", problem);
    }
    const Residency left = measure_residency(fd.get(), 0, size_bytes);
    if (left.state == Residency::State::unknown) {
        return "whether the file has left the page cache is not known here";
    }
    return static_cast<double>(left.cached_bytes) <= kTolerated * static_cast<double>(size_bytes)
               ? ""
               : fmt::format("{} of the file stay in the page cache (in memory alone, mapped or locked)", size_text(left.cached_bytes));
}

}  // namespace waybill
