#include "cli/write_source.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include <fmt/format.h>

#include "cli/patience.hpp"

namespace waybill {
namespace {

constexpr std::uint64_t kMostPerCall = std::uint64_t{4} << 20;  // so that ^C is served on slow storage

ErrorCode code_of(int problem) noexcept {
    switch (problem) {
        case ENOENT:
        case ENOTDIR: return ErrorCode::file_not_found;
        case EISDIR: return ErrorCode::is_directory;
        case EACCES: return ErrorCode::permission_denied;
        default: return ErrorCode::io_error;
    }
}

// O_NONBLOCK: the open of a pipe would wait for its writer, where no time limit holds.
Fd open_source(const std::string& from) {
    constexpr int kAfterTheStandardOnes = 3;
    Fd fd = from == "-" ? Fd(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, kAfterTheStandardOnes)) : open_descriptor(from.c_str(), O_RDONLY | O_NONBLOCK);
    if (!fd) {
        throw_if_out_of_descriptors(errno, from);
        throw Error(code_of(errno), "--from: cannot open '" + from + "'", native_errno(errno));
    }
    return fd;
}

}  // namespace

WriteSource::WriteSource(std::string from, std::optional<std::uint64_t> most_bytes)
    : from_(std::move(from)), fd_(open_source(from_)), most_bytes_(most_bytes.value_or(std::numeric_limits<std::uint64_t>::max())) {
    struct stat state {};
    if (::fstat(fd_.get(), &state) == 0 && S_ISREG(state.st_mode) && state.st_size != 0) {  // files of /proc say 0, and are not empty
        start_ = static_cast<std::uint64_t>(std::max<off_t>(::lseek(fd_.get(), 0, SEEK_CUR), 0));
        const std::uint64_t size = static_cast<std::uint64_t>(state.st_size);
        most_bytes_ = std::min(most_bytes_, size - std::min(size, start_));
        known_bytes_ = most_bytes_;
    }
    ended_ = most_bytes_ == 0;
}

bool WriteSource::is(const std::string& path) const noexcept {
    struct stat ours {};
    struct stat theirs {};
    return ::fstat(fd_.get(), &ours) == 0 && ::stat(path.c_str(), &theirs) == 0 && ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino;
}

std::uint64_t WriteSource::read(std::byte* memory, std::uint64_t size_bytes, const std::function<void()>& look) {
    std::uint64_t done = 0;
    while (done < size_bytes && !ended_) {
        look();
        // Standard input may be shared with other programs: it is left as it is, and asked before each read.
        pollfd readable{fd_.get(), POLLIN, 0};
        if (::poll(&readable, 1, static_cast<int>(Patience::kLook.count())) <= 0) {
            continue;  // a pipe without a writer must not be read: that would be its end
        }
        const ssize_t count = ::read(fd_.get(), memory + done, std::min({size_bytes - done, most_bytes_ - read_bytes_, kMostPerCall}));
        if (count < 0) {
            if (errno != EINTR && errno != EAGAIN) {
                fail(errno);
            }
            continue;
        }
        done += static_cast<std::uint64_t>(count);
        read_bytes_ += static_cast<std::uint64_t>(count);
        ended_ = count == 0 || read_bytes_ == most_bytes_;
    }
    if (ended_ && was_truncated()) {
        throw Error(ErrorCode::file_truncated,
                    fmt::format("--from: '{}' ended after {} of {} bytes; it was truncated meanwhile", from_, read_bytes_, *known_bytes_));
    }
    return done;
}

void WriteSource::fail(int problem) const {
    throw Error(code_of(problem), fmt::format("--from: cannot read '{}' after {} bytes", from_, read_bytes_), native_errno(problem));
}

// A file of /sys says more than it gives, and no one has cut it.
bool WriteSource::was_truncated() const noexcept {
    struct stat state {};
    return known_bytes_ && read_bytes_ < *known_bytes_ && ::fstat(fd_.get(), &state) == 0 &&
           static_cast<std::uint64_t>(state.st_size) < start_ + *known_bytes_;
}

}  // namespace waybill
