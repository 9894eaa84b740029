#include "gpu/driver_probe.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <thread>

#include "base/clock.hpp"
#include "base/fd.hpp"
#include "base/text.hpp"

extern char** environ;

namespace waybill {
namespace {

constexpr const char* kProgram = "waybill-probe";

// The folder of the object that holds this code: a program, a shared library or a Python module.
std::filesystem::path own_folder() {
    Dl_info found{};
    std::error_code ignored;
    if (::dladdr(reinterpret_cast<const void*>(&probe_driver), &found) != 0 && found.dli_fname != nullptr) {
        const auto path = std::filesystem::canonical(found.dli_fname, ignored);
        if (!ignored) {
            return path.parent_path();
        }
    }
    return std::filesystem::canonical("/proc/self/exe", ignored).parent_path();
}

std::filesystem::path find_program() {
    const std::filesystem::path folder = own_folder();
    for (const auto& candidate : {folder / kProgram, folder.parent_path() / kProgram,
                                  folder.parent_path() / "libexec/waybill" / kProgram,
                                  std::filesystem::path(WAYBILL_LIBEXEC_FOLDER) / kProgram}) {
        if (::access(candidate.c_str(), X_OK) == 0) {
            return candidate;
        }
    }
    return {};
}

// Ends the child and collects it. One that is stuck in the kernel does not die of a signal: it is left after a while.
DriverProbe kill_child(pid_t child, std::uint64_t limit_ns) {
    constexpr std::uint64_t kPatienceNs = 1'000'000'000;
    ::kill(child, SIGKILL);
    const std::uint64_t end = now_ns() + kPatienceNs;
    int status = 0;
    pid_t ended = 0;
    while ((ended = ::waitpid(child, &status, WNOHANG)) == 0 || (ended < 0 && errno == EINTR)) {
        if (now_ns() > end) {
            return {false, "did not return within " + duration_text(limit_ns) +
                               " (driver_timeout), and is stuck in the kernel: it does not end when killed"};
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return {false, "did not return within " + duration_text(limit_ns) + " (driver_timeout)"};
}

DriverProbe wait_for_child(pid_t child, std::uint64_t limit_ns) {
    const std::uint64_t end = now_ns() + limit_ns;
    int status = 0;
    for (auto pause = std::chrono::microseconds(200);; pause = std::min(pause * 2, std::chrono::microseconds(20000))) {
        const pid_t ended = ::waitpid(child, &status, WNOHANG);
        if (ended == child) {
            break;
        }
        if (ended < 0 && errno != EINTR) {
            return {false, "could not be watched (" + errno_name(errno) + ")"};  // the program ignores SIGCHLD
        }
        if (now_ns() > end) {
            return kill_child(child, limit_ns);
        }
        std::this_thread::sleep_for(pause);
    }
    if (WIFSIGNALED(status)) {
        return {false, "ended by signal " + std::to_string(WTERMSIG(status)) + " (" + ::strsignal(WTERMSIG(status)) + ")"};
    }
    if (WEXITSTATUS(status) != 0) {
        return {false, "failed (exit status " + std::to_string(WEXITSTATUS(status)) + ")"};
    }
    return {true, "opened the driver"};
}

}  // namespace

DriverProbe probe_driver(const std::string& library, std::uint64_t limit_ns) {
    const std::filesystem::path program = find_program();
    if (program.empty()) {
        return {false, std::string("was not possible: the program ") + kProgram + " is missing beside this library"};
    }
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    for (const int descriptor : {0, 1, 2}) {
        ::posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0);
    }
    std::string path = program.string();
    std::string argument = library;
    char* arguments[] = {path.data(), argument.data(), nullptr};
    pid_t child = -1;
    const int problem = ::posix_spawn(&child, path.c_str(), &actions, nullptr, arguments, environ);
    ::posix_spawn_file_actions_destroy(&actions);
    if (problem != 0) {
        return {false, "could not be started (" + errno_name(problem) + ")"};
    }
    return wait_for_child(child, limit_ns);
}

}  // namespace waybill
