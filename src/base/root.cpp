#include "base/root.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

namespace waybill {
namespace {

template <class T>
Fact<T> refused(int problem, std::string_view path) {
    if (problem == ENOENT || problem == ENOTDIR) {
        return absent_fact<T>(std::string(path));
    }
    throw_if_out_of_descriptors(problem, std::string(path));  // nothing that the machine lacks, and over in a moment
    return unknown_fact<T>(std::string(path), errno_name(problem));
}

}  // namespace

MachineRoot::MachineRoot(std::string path, Recording* recording, std::string name)
    : path_(path.empty() ? "/" : std::move(path)), name_(std::move(name)), recording_(recording) {
    folder_ = Fd(::open(path_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!folder_) {
        throw_if_out_of_descriptors(errno, path_);
        throw Error(ErrorCode::bad_setting,
                    "machine_root: cannot open the folder '" + path_ + "'; give a folder that holds a machine's files",
                    native_errno(errno));
    }
}

Fd MachineRoot::open(std::string_view path, int flags, int& problem) const {
    const std::string text(path);
    if (recording_ != nullptr) {
        recording_->looked_at(path);
    }
    Fd fd;
    if (is_live()) {
        // A plain open: /proc/modules may be answered by a library that stands before libc.
        fd = open_descriptor(text.c_str(), flags);
    } else {
        struct open_how how {};
        how.flags = static_cast<std::uint64_t>(flags) | O_CLOEXEC;
        how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
        fd = Fd(static_cast<int>(::syscall(SYS_openat2, folder_.get(), text.c_str(), &how, sizeof how)));
    }
    problem = fd ? 0 : errno;
    return fd;
}

Fact<std::string> MachineRoot::read(std::string_view path, std::size_t limit_bytes, std::uint64_t offset_bytes) const {
    int problem = 0;
    // Never blocks on a FIFO that a fixture may hold.
    const Fd fd = open(path, O_RDONLY | O_NONBLOCK, problem);
    if (!fd) {
        return refused<std::string>(problem, path);
    }
    if (offset_bytes != 0 && ::lseek(fd.get(), static_cast<off_t>(offset_bytes), SEEK_SET) < 0) {
        return unknown_fact<std::string>(std::string(path), errno_name(errno));
    }
    std::string text;
    char chunk[16384];
    while (text.size() < limit_bytes) {
        const ssize_t count = ::read(fd.get(), chunk, std::min(sizeof chunk, limit_bytes - text.size()));
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0) {
            return unknown_fact<std::string>(std::string(path), errno_name(errno));
        }
        if (count == 0) {
            break;
        }
        text.append(chunk, static_cast<std::size_t>(count));
    }
    return known_fact(std::move(text), std::string(path));
}

Fact<std::vector<std::string>> MachineRoot::list(std::string_view path) const {
    int problem = 0;
    Fd fd = open(path, O_RDONLY | O_DIRECTORY, problem);
    if (!fd) {
        return refused<std::vector<std::string>>(problem, path);
    }
    const std::unique_ptr<DIR, int (*)(DIR*)> folder(::fdopendir(fd.get()), &::closedir);
    if (!folder) {
        return unknown_fact<std::vector<std::string>>(std::string(path), errno_name(errno));
    }
    fd.release();
    std::vector<std::string> names;
    while (const dirent* entry = ::readdir(folder.get())) {
        const std::string_view name = entry->d_name;
        if (name != "." && name != "..") {
            names.emplace_back(name);
        }
    }
    std::sort(names.begin(), names.end());
    return known_fact(std::move(names), std::string(path));
}

Fact<bool> MachineRoot::exists(std::string_view path) const {
    int problem = 0;
    const Fd fd = open(path, O_PATH, problem);
    return fd ? known_fact(true, std::string(path)) : refused<bool>(problem, path);
}

Fact<std::string> MachineRoot::link(std::string_view path) const {
    int problem = 0;
    const Fd fd = open(path, O_PATH | O_NOFOLLOW, problem);
    if (!fd) {
        return refused<std::string>(problem, path);
    }
    char text[4096];
    const ssize_t count = ::readlinkat(fd.get(), "", text, sizeof text);
    if (count < 0) {
        return unknown_fact<std::string>(std::string(path), errno_name(errno));
    }
    return known_fact(std::string(text, static_cast<std::size_t>(count)), std::string(path));
}

}  // namespace waybill
