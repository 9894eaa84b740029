#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

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

// The path that the receipt in `text` names, with cuFile's counters where it has them; or the error's code.
std::string outcome_of(const Ended& ended, std::string& path) {
    if (ended.timed_out) {
        return fmt::format("did not end within {} s", kLimitNs / 1'000'000'000);
    }
    if (ended.signal != 0) {
        return fmt::format("was ended by signal {}", ended.signal);
    }
    const auto json = nlohmann::json::parse(ended.output, nullptr, false);
    if (!json.is_object()) {
        return fmt::format("ended with {} and said nothing", ended.code);
    }
    if (json.value("schema", "") == "waybill.error/1") {
        return json.value("code", "") + ": " + json.value("text", "");
    }
    path = json.value("path", "");
    std::string text = path + ", " + json.value("judgement", "");
    const auto evidence = json.find("evidence");
    if (evidence != json.end() && evidence->is_object() && evidence->contains("cufile") && (*evidence)["cufile"].is_object()) {
        const auto& counters = (*evidence)["cufile"];
        text += fmt::format(", n={} nvfs={} p2pdma={} posix={}", counters.value("n", 0), counters.value("nvfs", 0), counters.value("p2pdma", 0),
                            counters.value("posix", 0));
    }
    return text;
}

ProbeStep try_engine(const CheckReport& report, const char* what, const char* compat_mode, const std::string& foretold) {
    ProbeStep step;
    step.what = what;
    step.foretold = foretold;
    const bool gpu = report.gpu.present.known();
    std::string path;
    step.result = outcome_of(run_self({"waybill", "read", report.file, "--size", "1MiB", "--to", gpu ? "gpu:" + std::to_string(report.device) : "host",
                                       "--compat-mode", compat_mode, "--set", "evidence=on", "--json"}),
                             path);
    step.done = !path.empty();
    step.agrees = step.done ? path == foretold : foretold == "refused";
    return step;
}

}  // namespace

void probe_paths(CheckReport& report) {
    if (!std::filesystem::is_regular_file(report.file)) {
        return;
    }
    const bool gpu = report.gpu.present.known();
    report.probe.push_back(try_engine(report, gpu ? "staged" : "host", "on", gpu ? "staged" : "host"));
    if (gpu) {
        const std::string cufile = !report.cufile.possible ? "refused" : std::string(to_text(report.direct.path.value_or(Path::cufile_posix)));
        report.probe.push_back(try_engine(report, "cufile", "off", cufile));
    }
    for (const ProbeStep& step : report.probe) {
        if (!step.agrees) {
            report.findings.push_back({"probe-disagrees", Severity::note, fmt::format("{}: {} came of it, and {} was foretold", step.what, step.result, step.foretold),
                                       "a read of 1 MiB in a child process", "believe what was tried; please report it with an archive of --save", ""});
        }
    }
}

}  // namespace waybill
