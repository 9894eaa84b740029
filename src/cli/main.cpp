#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <new>

#include "base/text.hpp"
#include "cli/aside.hpp"
#include "cli/commands.hpp"
#include "cli/end.hpp"
#include "cli/print.hpp"
#include "waybill/receipt.hpp"

namespace waybill {
namespace {

int run(const ReadArguments& arguments) { return run_read(arguments); }
int run(const WriteArguments& arguments) { return run_write(arguments); }
int run(const PlanArguments& arguments) { return run_plan(arguments); }
int run(const CheckArguments& arguments) { return run_check(arguments); }
int run(const StatsArguments& arguments) { return run_stats(arguments); }
int run(const BenchArguments& arguments) { return run_bench(arguments); }
int run(const ConfigArguments& arguments) { return run_config(arguments); }
int run(const VersionArguments& arguments) { return run_version(arguments); }
int run(const Usage& usage) {
    if (usage.exit_code == 0) {
        print(usage.text);
    } else if (usage.json) {
        throw Error(ErrorCode::invalid_argument, usage.sentence);
    } else {
        std::fputs(usage.text.c_str(), stderr);
    }
    return usage.exit_code;
}

bool wants_json(const Arguments& arguments) {
    return std::visit([](const auto& chosen) { return chosen.json; }, arguments);
}

int report(const Error& error, bool json) {
    if (json) {
        print(to_json(error, 2) + "\n");
    } else {
        std::fprintf(stderr, "waybill: %s\n", escape_controls(error.what()).c_str());
        if (error.receipt()) {
            std::fputs(to_text(*error.receipt()).c_str(), stderr);
        }
    }
    return exit_code(error.code());
}

// Standard output may be what cannot be written.
int report_somewhere(const Error& error, bool json) {
    try {
        return report(error, json);
    } catch (const Error& output_error) {
        std::fprintf(stderr, "waybill: %s\n", output_error.what());
        return exit_code(output_error.code());
    }
}

int run_words(int count, char** words) {
    bool json = false;
    try {
        const Arguments arguments = parse_arguments(count, words);
        json = wants_json(arguments);
        return std::visit([](const auto& chosen) { return run(chosen); }, arguments);
    } catch (const Error& error) {
        return report_somewhere(error, json);
    } catch (const std::bad_alloc&) {
        return report_somewhere(Error(ErrorCode::out_of_memory, "this process can have no more memory"), json);
    } catch (const std::exception& problem) {
        return report_somewhere(Error(ErrorCode::internal, problem.what()), json);
    }
}

}  // namespace
}  // namespace waybill

int main(int count, char** words) {
    using namespace waybill;
    // A closed pipe is an error of the write, not the end of the program.
    ::signal(SIGPIPE, SIG_IGN);
    // So is a limit of file sizes that is met (setrlimit(2)).
    ::signal(SIGXFSZ, SIG_IGN);
    tidy_up_on_signals();
    const int status = run_words(count, words);
    if (is_anything_left_behind()) {  // a library's own end may wait for it
        std::fflush(nullptr);
        ::_exit(status);
    }
    return status;
}
