#include "cli/arguments.hpp"

#include <algorithm>
#include <memory>
#include <sstream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/text.hpp"
#include "settings/parse.hpp"
#include "waybill/error.hpp"
#include "waybill/version.hpp"

namespace waybill {
namespace {

// The kernel's own limit (PID_MAX_LIMIT).
constexpr std::int64_t kMostPid = 4 * 1024 * 1024;

// What the options of all commands write to; one command is chosen in the end.
struct All {
    ReadArguments read;
    WriteArguments write;
    PlanArguments plan;
    CheckArguments check;
    StatsArguments stats;
    BenchArguments bench;
    ConfigArguments config;
    VersionArguments version;
};

void check_size(const std::string& name, const std::string& text, std::uint64_t& size) {
    try {
        size = parse_size(text, name);
    } catch (const Error& error) {
        throw CLI::ValidationError(error.what());
    }
}

void add_size(CLI::App& app, const std::string& name, std::uint64_t& size, const std::string& help) {
    app.add_option_function<std::string>(name, [name, &size](const std::string& text) { check_size(name, text, size); }, help)
        ->type_name("SIZE");
}

void add_size(CLI::App& app, const std::string& name, std::optional<std::uint64_t>& size, const std::string& help) {
    app.add_option_function<std::string>(
           name, [name, &size](const std::string& text) { check_size(name, text, size.emplace()); }, help)
        ->type_name("SIZE");
}

// Several sizes, separated by commas.
void add_sizes(CLI::App& app, const std::string& name, std::vector<std::uint64_t>& sizes, const std::string& help) {
    app.add_option_function<std::vector<std::string>>(
           name,
           [name, &sizes](const std::vector<std::string>& texts) {
               for (const std::string& text : texts) {
                   check_size(name, text, sizes.emplace_back());
               }
           },
           help)
        ->type_name("SIZES")
        ->delimiter(',')
        ->allow_extra_args(false);
}

// A time between `least` and `most`.
void add_time(CLI::App& app, const std::string& name, std::chrono::nanoseconds& time, std::chrono::nanoseconds least,
              std::chrono::nanoseconds most, const std::string& help) {
    const auto take = [name, &time, least, most](const std::string& text) {
        try {
            time = std::chrono::nanoseconds(parse_duration(text));
        } catch (const Error& error) {
            throw CLI::ValidationError(fmt::format("{}: '{}' is no time; {}", name, text, error.what()));
        }
        if (time < least || time > most) {
            const auto words = [](std::chrono::nanoseconds limit) { return duration_text(static_cast<std::uint64_t>(limit.count())); };
            throw CLI::ValidationError(fmt::format("{}: '{}' is not between {} and {}", name, text, words(least), words(most)));
        }
    };
    app.add_option_function<std::string>(name, take, help)->type_name("TIME");
}

// Options that stand for a setting of this call.
void add_setting(CLI::App& app, SettingValues& settings, const std::string& option, const std::string& name, const std::string& help) {
    app.add_option_function<std::string>(option, [&settings, name](const std::string& text) { settings[name] = text; }, help)
        ->type_name("VALUE");
}

void add_any_setting(CLI::App& app, SettingValues& settings) {
    app.add_option_function<std::vector<std::string>>(
           "--set",
           [&settings](const std::vector<std::string>& all) {
               for (const std::string& text : all) {
                   const auto equals = text.find('=');
                   if (equals == std::string::npos || equals == 0) {
                       throw CLI::ValidationError("--set: '" + text + "' is not NAME=VALUE");
                   }
                   settings[text.substr(0, equals)] = text.substr(equals + 1);
               }
           },
           "any setting for this call; `waybill config` lists them")
        ->type_name("NAME=VALUE")
        ->allow_extra_args(false);
}

void add_settings(CLI::App& app, SettingValues& settings) {
    add_setting(app, settings, "--compat-mode", "compat_mode", "auto, on or off");
    add_setting(app, settings, "--task-size", "task_size", "bytes of a task, as 4MiB");
    add_setting(app, settings, "--threads", "num_threads", "threads, or auto");
    add_setting(app, settings, "--page-cache", "page_cache", "auto, use, bypass or direct");
    add_setting(app, settings, "--evidence", "evidence", "off, auto or on");
    add_setting(app, settings, "--require-evidence", "require_evidence", "proved or consistent");
    add_setting(app, settings, "--time-limit", "time_limit", "give up after this time, as 30s");
    add_any_setting(app, settings);
}

void add_read(CLI::App& app, ReadArguments& read) {
    CLI::App& command = *app.add_subcommand("read", "Read a file into GPU memory (host memory without one) and print the receipt");
    command.add_option("file", read.file, "the file")->required()->type_name("FILE");
    add_size(command, "--offset", read.offset, "first byte");
    add_size(command, "--size", read.size_bytes, "bytes; to the end of the file if not given");
    command.add_option("--to", read.to, "gpu, gpu:N (CUDA's number, a UUID or a PCI address) or host")->type_name("WHERE");
    command.add_option("--require", read.require, "fail unless this path is taken: direct, or a path's name")->type_name("PATH");
    command.add_option("--repeat", read.repeat, "read this many times, a receipt each")
        ->type_name("N")
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1000000}));
    command.add_flag("--sha256", read.sha256, "hash the bytes after they arrived");
    command.add_option("--out", read.out, "write the bytes that arrived to this file")->type_name("PATH");
    add_settings(command, read.settings);
    command.add_flag("--json", read.json, "print the receipt as JSON");
    command.footer("Examples:\n  waybill read model.bin\n  waybill read model.bin --to gpu:0 --require direct --json\n"
                   "  waybill read log.bin --offset 4K --size 1MiB --to host --sha256");
}

void add_write(CLI::App& app, WriteArguments& write) {
    CLI::App& command = *app.add_subcommand("write", "Write bytes through GPU or host memory into a file and print the receipt");
    command.add_option("file", write.file, "the file to write")->required()->type_name("FILE");
    command.add_option("--from", write.from, "the file or pipe that has the bytes, of any length, or - for standard input")->required()->type_name("PATH");
    add_size(command, "--offset", write.offset, "where in FILE the bytes go");
    add_size(command, "--size", write.size_bytes, "bytes; all of the source if not given");
    command.add_option("--via", write.via, "memory that the bytes are written from: gpu:N (CUDA's number, a UUID or a PCI address) or host")->type_name("WHERE");
    command.add_option("--require", write.require, "fail unless this path is taken")->type_name("PATH");
    command.add_flag("--create", write.create, "make FILE if it is not there");
    command.add_flag("--truncate", write.truncate, "cut FILE after what was written (and make it where there is none)");
    command.add_flag("--fsync", write.fsync, "bring the bytes to storage before the receipt");
    command.add_flag("--atomic", write.atomic, "write beside FILE, sync, and rename: FILE is the old one or the whole new one");
    add_settings(command, write.settings);
    command.add_flag("--json", write.json, "print the receipt as JSON");
    command.footer("Examples:\n  waybill write copy.bin --from model.bin --create\n"
                   "  waybill write out.bin --from - --via gpu:0 --atomic --fsync < in.bin");
}

void add_plan(CLI::App& app, PlanArguments& plan) {
    CLI::App& command = *app.add_subcommand("plan", "Tell what a read would do, before any read: route, tasks, pieces, threads, and what settings would change");
    command.add_option("file", plan.file, "the file")->required()->type_name("FILE");
    add_size(command, "--offset", plan.offset, "first byte");
    add_size(command, "--size", plan.size_bytes, "bytes; to the end of the file if not given");
    command.add_option("--to,--device", plan.to, "gpu:N (CUDA's number, a UUID or a PCI address) or host; default gpu:0, or host where there is no GPU")->type_name("WHERE");
    command.add_flag("--registered", plan.registered, "as if the destination were registered with cuFile, which then splits otherwise");
    add_setting(command, plan.settings, "--cufile-json", "cufile_json", "plan with this cufile.json");
    add_settings(command, plan.settings);
    command.add_flag("--json", plan.json, "print as JSON");
    command.footer("Examples:\n  waybill plan model.bin\n  waybill plan model.bin --compat-mode off --task-size 16MiB --json");
}

void add_check(CLI::App& app, CheckArguments& check) {
    CLI::App& command = *app.add_subcommand("check", "Tell whether a direct path leads from a file to a GPU, and if not, why and what to do");
    command.add_option("file", check.file, "a file or a folder (default: the current folder)")->type_name("FILE");
    command.add_option("--device", check.device, "the GPU: CUDA's number, a UUID or a PCI address")->type_name("N");
    command.add_option("--root", check.root, "check another machine: the folder or archive that holds its files")->type_name("DIR|ARCHIVE");
    command.add_option("--save", check.save, "save what was looked at, without names and serials, for a report or a test (NAME/: as a folder)")->type_name("ARCHIVE|DIR/");
    command.add_option("--compare", check.compare, "tell what has changed since a saved state")->type_name("ARCHIVE");
    command.add_flag("--mounts", check.mounts, "one line for every mounted file system");
    command.add_flag("--probe", check.probe, "try the real thing too, in a child process with a time limit");
    add_settings(command, check.settings);
    command.add_flag("--json", check.json, "print as JSON");
    command.footer("Exit codes: 0 a direct path exists (or nothing has changed), 1 reads work, but not directly (or something has changed),\n"
                   "3 the file cannot be read, 2 usage.\n"
                   "Examples:\n  waybill check /data/model.bin\n  waybill check --mounts\n  waybill check /data --save state.tar.gz\n"
                   "  waybill check /data/model.bin --root state.tar.gz --json");
}

void add_stats(CLI::App& app, StatsArguments& stats) {
    CLI::App& command = *app.add_subcommand("stats", "Show what running processes that use Waybill have moved, live, without stopping them");
    command.add_option("pid", stats.pid, "the process (default: all)")->type_name("PID")->check(CLI::Range(std::int64_t{1}, kMostPid));
    command.add_flag("--all", stats.all, "every process that may be looked at");
    command.add_flag("--watch", stats.watch, "again and again, until ^C or the end of the process");
    add_time(command, "--interval", stats.interval, std::chrono::milliseconds(10), std::chrono::hours(24),
             "time between two looks, as 500ms (default 1s)");
    command.add_flag("--openmetrics", stats.openmetrics, "print for Prometheus (OpenMetrics text)");
    command.add_flag("--json", stats.json, "print as JSON; with --watch a line each time");
    command.footer("Exit codes: 0 done, 1 cuFile's own counters contradict Waybill's, 3 no such process or none of its own, 130 ^C.\n"
                   "Examples:\n  waybill stats\n  waybill stats 4242 --watch\n  waybill stats --all --openmetrics");
}

void add_bench(CLI::App& app, BenchArguments& bench) {
    constexpr std::uint64_t kMostThreads = 1024;
    CLI::App& command = *app.add_subcommand("bench", "Measure every path of this machine, each beside the most that its parts do");
    command.add_option("file", bench.file, "the file to read (one is made in the current folder, and nothing is left of it)")
        ->type_name("FILE");
    add_size(command, "--size", bench.size_bytes, "bytes of the file to use (default: all; of one that is made: 1GiB)");
    command.add_option("--to", bench.to, "gpu, gpu:N (CUDA's number, a UUID or a PCI address) or host")->type_name("WHERE");
    command.add_option("--paths", bench.paths, "host, staged, cufile or all; separated by commas (default: all that can be)")
        ->type_name("PATHS")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(CLI::IsMember({"all", "host", "staged", "cufile"}));
    add_sizes(command, "--requests", bench.request_bytes, "sizes of a request; separated by commas (default: from 4KiB to the file's size)");
    command.add_option("--threads", bench.threads, "threads of a request; separated by commas (default: as Waybill chooses)")
        ->type_name("N")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(CLI::Range(std::uint64_t{1}, kMostThreads));
    command.add_option("--cache", bench.cache, "hot (the file is in the page cache), cold (it is not) or both")
        ->check(CLI::IsMember({"hot", "cold", "both"}));
    add_time(command, "--time", bench.time, std::chrono::milliseconds(1), std::chrono::hours(1),
             "time for each row, as 2s (default 500ms)");
    command.add_option("--compare", bench.compare, "an earlier report (--json): each row is told as a multiple of it")
        ->type_name("REPORT");
    command.add_option("--plot", bench.plot, "draw NAME.svg and NAME.png too (with gnuplot)")->type_name("NAME");
    add_any_setting(command, bench.settings);
    command.add_flag("--json", bench.json, "print as JSON");
    command.footer("Examples:\n  waybill bench\n  waybill bench /data/model.bin --paths staged,cufile --requests 1MiB,16MiB\n"
                   "  waybill bench model.bin --cache hot --json > before.json\n  waybill bench model.bin --cache hot --compare before.json");
}

void add_config(CLI::App& app, ConfigArguments& config) {
    CLI::App& command = *app.add_subcommand("config", "Print every setting, its value and where that came from");
    add_settings(command, config.settings);
    command.add_flag("--cufile", config.cufile, "print cuFile's configuration instead: cufile.json, CUFILE_* variables, built-in values");
    command.add_flag("--json", config.json, "print as JSON");
    command.add_flag("--markdown", config.markdown, "print the table for the documentation");
}

// The parser has stopped somewhere, perhaps before it.
bool asks_for_json(int count, char** words) {
    return std::any_of(words, words + count, [](const char* word) { return std::string_view(word) == "--json"; });
}

// A first word that is no command; empty where there is none.
std::string unknown_command(const CLI::App& app) {
    for (const std::string& word : app.get_subcommands().empty() ? app.remaining() : std::vector<std::string>()) {
        if (!word.starts_with('-')) {
            std::vector<std::string> known;
            for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
                known.push_back(command->get_name());
            }
            const std::string meant = nearest(word, known);
            const std::string guess = meant.empty() ? "." : fmt::format("; did you mean '{}'?", meant);
            return fmt::format("there is no command '{}'{} There are {}", escape_controls(word), guess, join(known, ", "));
        }
    }
    return {};
}

std::unique_ptr<CLI::App> make_app(All& all) {
    auto app = std::make_unique<CLI::App>("Waybill reads files into GPU memory by the best path and tells which one it was.", "waybill");
    app->require_subcommand(1);
    app->set_version_flag("--version", fmt::format("waybill {}", kVersion), "print the version");
    add_read(*app, all.read);
    add_write(*app, all.write);
    add_plan(*app, all.plan);
    add_check(*app, all.check);
    add_stats(*app, all.stats);
    add_bench(*app, all.bench);
    add_config(*app, all.config);
    CLI::App& version = *app->add_subcommand("version", "Print the version");
    version.add_flag("--json", all.version.json, "print as JSON");
    app->footer("Sizes are written 4MiB, 16K, 1GiB or as plain bytes. Exit codes: 0 done, 1 a truthful no, 2 usage or setting,\n"
                "3 file or data, 4 the required path was not taken, 5 GPU, driver or cuFile, 6 time-out, 7 internal, 130 interrupted.");
    return app;
}

}  // namespace

Arguments parse_arguments(int count, char** words) {
    All all;
    const std::unique_ptr<CLI::App> app = make_app(all);
    try {
        app->parse(count, words);
    } catch (const CLI::ParseError& problem) {
        std::ostringstream out;
        constexpr int kUsage = 2;
        const int code = app->exit(problem, out, out) == 0 ? 0 : kUsage;
        if (const std::string sentence = code == 0 ? "" : unknown_command(*app); !sentence.empty()) {
            return Usage{sentence + "\nRun with --help for more information.\n", code, sentence, asks_for_json(count, words)};
        }
        return Usage{out.str(), code, problem.what(), asks_for_json(count, words)};
    }
    if (app->got_subcommand("read")) {
        return all.read;
    }
    if (app->got_subcommand("write")) {
        return all.write;
    }
    if (app->got_subcommand("plan")) {
        return all.plan;
    }
    if (app->got_subcommand("check")) {
        return all.check;
    }
    if (app->got_subcommand("stats")) {
        return all.stats;
    }
    if (app->got_subcommand("bench")) {
        return all.bench;
    }
    if (app->got_subcommand("config")) {
        return all.config;
    }
    return all.version;
}

}  // namespace waybill
