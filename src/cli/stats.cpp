#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/pause.hpp"
#include "cli/print.hpp"
#include "stats/contradictions.hpp"
#include "stats/openmetrics.hpp"
#include "stats/processes.hpp"
#include "stats/stats_json.hpp"
#include "stats/text.hpp"
#include "waybill/error.hpp"

namespace waybill {
namespace {

// Long enough for a rate, short enough for a person who waits.
constexpr std::chrono::milliseconds kFirstPause{200};
constexpr int kInterrupted = 130;

struct StatsLook {
    std::vector<ProcessStats> processes;
    std::uint64_t refused = 0;
    std::vector<std::string> problems;
};

StatsLook look_at_all() {
    const StatsProcesses processes = find_stats_processes();
    StatsLook look{{}, processes.refused, processes.problems};
    for (const StatsView& view : processes.found) {
        look.processes.push_back(view.look());
    }
    return look;
}

void add_all_rates(StatsLook& now, const StatsLook& before) {
    for (ProcessStats& stats : now.processes) {
        for (const ProcessStats& earlier : before.processes) {
            if (earlier.pid == stats.pid) {
                add_rates(stats, earlier);
            }
        }
    }
}

std::string text_of(const StatsLook& look) {
    std::string text;
    for (const ProcessStats& stats : look.processes) {
        text += (text.empty() ? "" : "\n") + to_text(stats);
    }
    for (const std::string& problem : look.problems) {
        text += "note: " + problem + "\n";
    }
    if (look.processes.empty()) {
        text += "no process here uses Waybill";
        text += look.refused == 0 ? "\n" : fmt::format(" ({} of other users could not be looked at)\n", look.refused);
    }
    return text;
}

void show(const StatsLook& look, const StatsArguments& arguments) {
    if (arguments.openmetrics) {
        print(openmetrics(look.processes));
    } else if (arguments.json) {
        print(stats_json(look.processes, look.refused, look.problems, arguments.watch ? -1 : 2) + "\n");
    } else if (arguments.watch) {
        const bool terminal = ::isatty(STDOUT_FILENO) == 1;
        print((terminal ? "\033[H\033[2J" : "") + text_of(look) + (terminal ? "" : "\n"));
    } else {
        print(text_of(look));
    }
}

int exit_code_of(const StatsLook& look) {
    const bool disagree = std::any_of(look.processes.begin(), look.processes.end(),
                                      [](const ProcessStats& stats) { return !contradictions(stats).empty(); });
    return disagree ? exit_code(ErrorCode::contradicted) : 0;
}

// A second look for the rates, but not for a scrape, which makes its own.
int once(const StatsArguments& arguments) {
    std::optional<StatsView> view;
    if (arguments.pid) {
        view = StatsView::of_process(*arguments.pid);
    }
    const auto take = [&] { return view ? StatsLook{{view->look()}, 0, {}} : look_at_all(); };
    StatsLook look = take();
    if (!arguments.openmetrics && !look.processes.empty()) {
        const Pause pause(arguments.pid);
        if (pause.wait(kFirstPause) == PauseEnd::interrupted) {
            return kInterrupted;
        }
        StatsLook second = take();
        add_all_rates(second, look);
        look = std::move(second);
    }
    show(look, arguments);
    return arguments.openmetrics ? 0 : exit_code_of(look);
}

int watch_process(const StatsArguments& arguments, std::chrono::nanoseconds interval) {
    StatsView view = StatsView::of_process(*arguments.pid);
    const Pause pause(arguments.pid);
    ProcessStats before = view.look();
    std::chrono::nanoseconds time = std::min<std::chrono::nanoseconds>(interval, kFirstPause);
    while (true) {
        const PauseEnd end = pause.wait(time);
        if (end == PauseEnd::interrupted) {
            return kInterrupted;
        }
        ProcessStats now = view.look();  // the last state too: our own mapping outlives the process
        add_rates(now, before);
        show({{now}, 0, {}}, arguments);
        if (end == PauseEnd::process_ended || !view.is_current()) {
            return 0;
        }
        before = std::move(now);
        time = interval;
    }
}

int watch_all(const StatsArguments& arguments, std::chrono::nanoseconds interval) {
    const Pause pause;
    StatsLook before = look_at_all();
    std::chrono::nanoseconds time = std::min<std::chrono::nanoseconds>(interval, kFirstPause);
    while (pause.wait(time) != PauseEnd::interrupted) {
        StatsLook now = look_at_all();
        add_all_rates(now, before);
        show(now, arguments);
        before = std::move(now);
        time = interval;
    }
    return kInterrupted;
}

void refuse_contradictions(const StatsArguments& arguments) {
    if (arguments.pid && arguments.all) {
        throw Error(ErrorCode::invalid_argument, "give a PID or --all, not both");
    }
    if (arguments.openmetrics && (arguments.json || arguments.watch)) {
        throw Error(ErrorCode::invalid_argument, "--openmetrics is one text for one scrape: leave --json and --watch away");
    }
}

}  // namespace

int run_stats(const StatsArguments& arguments) {
    refuse_contradictions(arguments);
    if (!arguments.watch) {
        return once(arguments);
    }
    return arguments.pid ? watch_process(arguments, arguments.interval) : watch_all(arguments, arguments.interval);
}

}  // namespace waybill
