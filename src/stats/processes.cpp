#include "stats/processes.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/fd.hpp"
#include "base/root.hpp"
#include "base/text.hpp"
#include "waybill/error.hpp"

namespace waybill {
namespace {

using Folder = std::unique_ptr<DIR, int (*)(DIR*)>;

std::optional<std::uint64_t> number_of(std::string_view text) noexcept {
    std::uint64_t number = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    return problem == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

std::string link_of(int folder, const char* name) {
    std::array<char, 256> text{};
    const ssize_t size = ::readlinkat(folder, name, text.data(), text.size());
    return size < 0 ? std::string() : std::string(text.data(), static_cast<std::size_t>(size));
}

const std::string& link_name() {
    static const std::string name = fmt::format("/memfd:{} (deleted)", kStatsName);
    return name;
}

// Opens descriptor `number` of another process for reading, if it is a memory file of our name that cannot shrink. It is
// looked at before it is opened for reading: the process may put anything there meanwhile, and to open a device can do harm.
Fd open_segment(int folder, const char* number, struct stat& state) noexcept {
    const Fd place(::openat(folder, number, O_PATH | O_CLOEXEC));
    if (!place || ::fstat(place.get(), &state) != 0 || !S_ISREG(state.st_mode)) {
        return {};
    }
    Fd memory = reopen(place.get(), O_RDONLY | O_CLOEXEC);
    if (!memory) {
        return {};
    }
    const int seals = ::fcntl(memory.get(), F_GET_SEALS);
    const bool fixed = seals >= 0 && (seals & F_SEAL_SHRINK) != 0 && state.st_size == static_cast<off_t>(sizeof(StatsSegment));
    return fixed ? std::move(memory) : Fd();
}

// A process that was forked by other means than fork() holds its parent's segment too; it is not its own.
bool is_of(std::int64_t pid, std::uint64_t own_pid) {
    const Fact<std::string> status = MachineRoot().read(fmt::format("/proc/{}/status", pid));
    for (const std::string_view line : split(status.value, '\n')) {
        if (line.starts_with("NSpid:")) {
            const auto last = line.find_last_of(" \t");
            return number_of(trim(line.substr(last + 1))) == own_pid;
        }
    }
    return static_cast<std::uint64_t>(pid) == own_pid;  // a kernel without namespaces of processes
}

[[noreturn]] void throw_no_process(std::int64_t pid, int problem) {
    if (problem == EACCES || problem == EPERM) {
        throw Error(ErrorCode::permission_denied,
                    fmt::format("process {} is another user's: its statistics are for its owner and root alone", pid),
                    native_errno(problem));
    }
    throw Error(ErrorCode::file_not_found, fmt::format("there is no process {}", pid));
}

}  // namespace

StatsView::StatsView(StatsView&& other) noexcept { *this = std::move(other); }

StatsView& StatsView::operator=(StatsView&& other) noexcept {
    std::swap(pid_, other.pid_);
    std::swap(number_, other.number_);
    std::swap(device_, other.device_);
    std::swap(inode_, other.inode_);
    std::swap(command_, other.command_);
    std::swap(bytes_, other.bytes_);
    return *this;
}

StatsView::~StatsView() {
    if (bytes_ != nullptr) {
        ::munmap(const_cast<std::byte*>(bytes_), sizeof(StatsSegment));
    }
}

StatsView StatsView::of_process(std::int64_t pid) {
    const Folder folder(::opendir(fmt::format("/proc/{}/fd", pid).c_str()), &::closedir);
    if (!folder) {
        throw_no_process(pid, errno);
    }
    const int place = ::dirfd(folder.get());
    std::optional<Error> problem;
    while (const dirent* entry = ::readdir(folder.get())) {
        struct stat state {};
        if (link_of(place, entry->d_name) != link_name()) {
            continue;
        }
        const Fd memory = open_segment(place, entry->d_name, state);
        void* address = memory ? ::mmap(nullptr, sizeof(StatsSegment), PROT_READ, MAP_SHARED, memory.get(), 0) : MAP_FAILED;
        if (address == MAP_FAILED) {
            problem.emplace(ErrorCode::io_error, fmt::format("process {} has statistics that cannot be read: they are of another "
                                                             "size or kind than this version's",
                                                             pid));
            continue;
        }
        StatsView view;
        view.pid_ = pid;
        view.number_ = static_cast<int>(number_of(entry->d_name).value_or(0));
        view.device_ = state.st_dev;
        view.inode_ = state.st_ino;
        view.bytes_ = static_cast<const std::byte*>(address);
        view.command_ = printable(std::string(trim(MachineRoot().read(fmt::format("/proc/{}/comm", pid)).value)));
        try {
            if (is_of(pid, view.look().own_pid)) {
                return view;
            }
        } catch (const Error& error) {
            problem = error;
        }
    }
    if (problem) {
        throw *problem;
    }
    throw Error(ErrorCode::file_not_found,
                fmt::format("process {} has no statistics of Waybill: it does not use Waybill, has made no request yet, or has "
                            "the setting stats off",
                            pid));
}

ProcessStats StatsView::look() const {
    ProcessStats stats = read_stats({bytes_, sizeof(StatsSegment)}, now_ns());
    stats.pid = static_cast<std::uint64_t>(pid_);
    stats.command = command_;
    return stats;
}

bool StatsView::is_current() const noexcept {
    struct stat state {};
    const std::string path = fmt::format("/proc/{}/fd/{}", pid_, number_);
    return ::stat(path.c_str(), &state) == 0 && state.st_dev == device_ && state.st_ino == inode_;
}

StatsProcesses find_stats_processes() {
    StatsProcesses processes;
    const Folder folder(::opendir("/proc"), &::closedir);
    if (!folder) {
        throw Error(ErrorCode::io_error, "/proc cannot be read, through which processes are found", native_errno(errno));
    }
    std::vector<std::int64_t> numbers;
    while (const dirent* entry = ::readdir(folder.get())) {
        if (const auto pid = number_of(entry->d_name)) {
            numbers.push_back(static_cast<std::int64_t>(*pid));
        }
    }
    std::sort(numbers.begin(), numbers.end());
    for (const std::int64_t pid : numbers) {
        try {
            processes.found.push_back(StatsView::of_process(pid));
        } catch (const Error& error) {
            if (error.code() == ErrorCode::permission_denied) {
                ++processes.refused;
            } else if (error.code() == ErrorCode::io_error) {
                processes.problems.emplace_back(error.what());
            }
        }
    }
    return processes;
}

}  // namespace waybill
