// A program that runs under a time limit, so that what hangs, aborts or closes descriptors in it harms nobody.
//
// Started by posix_spawn, never a bare fork; its standard input and error are /dev/null. Killed when its time is over, also when it
// has closed its output; one that is stuck in the kernel does not die of that and is left behind. Thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace waybill {

struct ChildEnd {
    enum class Kind {
        exited,
        signalled,
        out_of_time,
        stuck,         // out of time, and it does not end when killed
        not_started,
        not_watched,   // this process ignores SIGCHLD, so that nobody is told how it ended
    };
    Kind kind = Kind::exited;
    int number = 0;      // exit status, signal or errno
    std::string output;  // its standard output, 1 MiB at most
};

[[nodiscard]] ChildEnd run_child(const std::filesystem::path& program, const std::vector<std::string>& arguments, std::uint64_t limit_ns);

// How it ended, to follow "it ": "did not return within 10 s", "ended by signal 6 (Aborted)". `limit`: the time that it had, in
// words.
[[nodiscard]] std::string to_text(const ChildEnd& end, std::string_view limit);

}  // namespace waybill
