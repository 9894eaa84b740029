#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/fd.hpp"
#include "cli/check_probe.hpp"

namespace waybill {
namespace {

constexpr std::uint64_t kLimitNs = 30'000'000'000;

struct Ended {
    bool timed_out = false;
    int signal = 0;
    int code = 0;
    std::string output;
};

std::string read_until(int fd, std::uint64_t deadline_ns, bool& timed_out) {
    std::string text;
    char chunk[4096];
    while (true) {
        const std::uint64_t now = now_ns();
        pollfd watch{fd, POLLIN, 0};
        if (now >= deadline_ns || ::poll(&watch, 1, static_cast<int>((deadline_ns - now) / 1'000'000) + 1) == 0) {
            timed_out = true;
            return text;
        }
        const ssize_t count = ::read(fd, chunk, sizeof chunk);
        if (count <= 0) {
            return text;
        }
        text.append(chunk, static_cast<std::size_t>(count));
    }
}

// Runs this program with `words`; its standard output comes back.
Ended run_self(std::vector<std::string> words) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) {
        return {false, 0, 7, {}};
    }
    const Fd reading(ends[0]);
    Fd writing(ends[1]);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, writing.get(), STDOUT_FILENO);
    ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    std::vector<char*> arguments;
    for (std::string& word : words) {
        arguments.push_back(word.data());
    }
    arguments.push_back(nullptr);
    pid_t child = 0;
    const int problem = ::posix_spawn(&child, "/proc/self/exe", &actions, nullptr, arguments.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    writing = Fd();
    if (problem != 0) {
        return {false, 0, 7, {}};
    }
    Ended ended;
    ended.output = read_until(reading.get(), now_ns() + kLimitNs, ended.timed_out);
    if (ended.timed_out) {
        ::kill(child, SIGKILL);
    }
    int status = 0;
    // What is stuck in the kernel does not die: it is left behind after a second.
    for (int tries = 0; ::waitpid(child, &status, WNOHANG) == 0; ++tries) {
        if (ended.timed_out && tries > 100) {
            return ended;
        }
        ::usleep(10'000);
    }
    ended.signal = WIFSIGNALED(status) && !ended.timed_out ? WTERMSIG(status) : 0;
    ended.code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    return ended;
}

// What became of a read: the path of its receipt, or the code of its error, or how its process ended.
struct Tried {
    std::string path;
    std::string error;
    bool survived = true;
    std::string text;
};

Tried tried_from(const Ended& ended) {
    if (ended.timed_out) {
        return {"", "", false, fmt::format("did not end within {} s", kLimitNs / 1'000'000'000)};
    }
    if (ended.signal != 0) {
        return {"", "", false, fmt::format("was ended by signal {} ({})", ended.signal, ::strsignal(ended.signal))};
    }
    const auto json = nlohmann::json::parse(ended.output, nullptr, false);
    if (!json.is_object()) {
        return {"", "", false, fmt::format("ended with {} and said nothing", ended.code)};
    }
    if (json.value("schema", "") == "waybill.error/1") {
        return {"", json.value("code", ""), true, json.value("code", "") + ": " + json.value("text", "")};
    }
    Tried tried{json.value("path", ""), "", true, json.value("path", "") + ", " + json.value("judgement", "")};
    const auto evidence = json.find("evidence");
    if (evidence != json.end() && evidence->is_object() && evidence->contains("cufile") && (*evidence)["cufile"].is_object()) {
        const auto& counters = (*evidence)["cufile"];
        tried.text += fmt::format(", n={} nvfs={} p2pdma={} posix={}", counters.value("n", 0), counters.value("nvfs", 0), counters.value("p2pdma", 0),
                                  counters.value("posix", 0));
    }
    return tried;
}

// `foretold`: a path, an error's code, or "refused" for any error.
ProbeStep try_read(const CheckReport& report, const SettingValues& settings, const char* what, const std::string& to, const char* compat_mode,
                   const std::string& foretold) {
    std::vector<std::string> words{"waybill", "read", report.file, "--size", "1MiB", "--to", to, "--json"};
    for (const auto& [name, value] : settings) {
        words.insert(words.end(), {"--set", name + "=" + value});
    }
    words.insert(words.end(), {"--set", "evidence=on", "--compat-mode", compat_mode});
    const Tried tried = tried_from(run_self(std::move(words)));
    ProbeStep step;
    step.what = what;
    step.foretold = foretold;
    step.result = tried.text;
    step.done = !tried.path.empty();
    step.agrees = tried.survived && (step.done ? tried.path == foretold : tried.error == foretold || foretold == "refused");
    return step;
}

}  // namespace

void probe_paths(CheckReport& report, const SettingValues& settings) {
    if (!std::filesystem::is_regular_file(report.file)) {
        return;
    }
    // The driver is asked even where the files show no GPU: it has the last word.
    const bool seen = report.gpu.present.known();
    const std::string to = "gpu:" + std::to_string(report.device);
    report.probe.push_back(try_read(report, settings, "staged", to, "on", seen ? "staged" : "no-gpu"));
    if (!seen && !report.probe.back().done) {
        report.probe.push_back(try_read(report, settings, "host", "host", "on", "host"));
    } else {
        const std::string cufile = !report.cufile.possible ? "refused" : std::string(to_text(report.direct.path.value_or(Path::cufile_posix)));
        report.probe.push_back(try_read(report, settings, "cufile", to, "off", cufile));
    }
    for (const ProbeStep& step : report.probe) {
        if (!step.agrees) {
            report.findings.push_back({"probe-disagrees", Severity::note, fmt::format("{}: {} came of it, and {} was foretold", step.what, step.result, step.foretold),
                                       "a read of 1 MiB in a child process", "believe what was tried; please report it with an archive of --save", ""});
        }
    }
}

}  // namespace waybill
