#include "base/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/clock.hpp"
#include "base/fd.hpp"

extern char** environ;

namespace waybill {
namespace {

using Kind = ChildEnd::Kind;

// posix_spawn's answer; the child writes its output to `output`.
int spawn(const std::filesystem::path& program, const std::vector<std::string>& arguments, int output, pid_t& child) {
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    std::vector<std::string> words{program.string()};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> pointers;
    for (std::string& word : words) {
        pointers.push_back(word.data());
    }
    pointers.push_back(nullptr);
    // What this process blocks for its own ends must end the child all the same.
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    sigset_t none;
    ::sigemptyset(&none);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    const int problem = ::posix_spawn(&child, program.c_str(), &actions, &attributes, pointers.data(), environ);
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
    return problem;
}

// Both ends close on exec and lie above the descriptors that a child is given.
bool make_pipe(Fd& reading, Fd& writing) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) {
        return false;
    }
    const Fd low[] = {Fd(ends[0]), Fd(ends[1])};
    reading = Fd(::fcntl(ends[0], F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    writing = Fd(::fcntl(ends[1], F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    return reading && writing && ::fcntl(reading.get(), F_SETFL, O_NONBLOCK) == 0;
}

class Watch {
public:
    Watch(pid_t child, Fd reading) : child_(child), reading_(std::move(reading)) {}

    // True when the child has ended, or can no longer be watched.
    bool until(std::uint64_t end_ns) {
        for (int pause_ms = 1;; pause_ms = std::min(pause_ms * 2, 20)) {
            int status = 0;
            const pid_t ended = ::waitpid(child_, &status, WNOHANG);
            const int problem = errno;
            take_output();
            if (ended == child_) {
                end_.kind = WIFSIGNALED(status) ? Kind::signalled : Kind::exited;
                end_.number = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
                return true;
            }
            if (ended < 0 && problem != EINTR) {
                end_.kind = Kind::not_watched;
                end_.number = problem;
                return true;
            }
            if (now_ns() > end_ns) {
                return false;
            }
            // An output that was closed is no end: without it this is a pause.
            pollfd watch{reading_ ? reading_.get() : -1, POLLIN, 0};
            ::poll(&watch, 1, pause_ms);
        }
    }
    ChildEnd& end() { return end_; }

private:
    void take_output() {
        constexpr std::size_t kMostBytes = std::size_t{1} << 20;
        char chunk[4096];
        ssize_t count = 0;
        while (reading_ && (count = ::read(reading_.get(), chunk, sizeof chunk)) > 0) {
            end_.output.append(chunk, std::min(static_cast<std::size_t>(count), kMostBytes - end_.output.size()));
        }
        if (count == 0) {
            reading_ = Fd();
        }
    }

    pid_t child_;
    Fd reading_;
    ChildEnd end_;
};

}  // namespace

ChildEnd run_child(const std::filesystem::path& program, const std::vector<std::string>& arguments, std::uint64_t limit_ns) {
    constexpr std::uint64_t kPatienceNs = 1'000'000'000;  // with a child that was killed
    Fd reading;
    Fd writing;
    if (!make_pipe(reading, writing)) {
        return {Kind::not_started, errno, {}};
    }
    pid_t child = -1;
    if (const int problem = spawn(program, arguments, writing.get(), child); problem != 0) {
        return {Kind::not_started, problem, {}};
    }
    writing = Fd();
    Watch watch(child, std::move(reading));
    if (!watch.until(now_ns() + limit_ns)) {
        ::kill(child, SIGKILL);
        watch.end().kind = watch.until(now_ns() + kPatienceNs) ? Kind::out_of_time : Kind::stuck;
    }
    return std::move(watch.end());
}

std::string to_text(const ChildEnd& end, std::string_view limit) {
    const std::string late = "did not return within " + std::string(limit);
    switch (end.kind) {
        case Kind::exited: return end.number == 0 ? "succeeded" : "failed (exit status " + std::to_string(end.number) + ")";
        case Kind::signalled: return "ended by signal " + std::to_string(end.number) + " (" + ::strsignal(end.number) + ")";
        case Kind::out_of_time: return late;
        case Kind::stuck: return late + ", and is stuck in the kernel: it does not end when killed";
        case Kind::not_started: return "could not be started (" + errno_name(end.number) + ")";
        case Kind::not_watched: break;
    }
    return "could not be watched (" + errno_name(end.number) + ")";
}

}  // namespace waybill
