#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include <fmt/format.h>

#include "base/fd.hpp"
#include "base/text.hpp"
#include "bench/bench.hpp"
#include "bench/bench_json.hpp"
#include "bench/plot.hpp"
#include "bench/report.hpp"
#include "bench/test_file.hpp"
#include "cli/commands.hpp"
#include "cli/place.hpp"
#include "cli/print.hpp"
#include "waybill/file.hpp"

namespace waybill {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kTestFileBytes = 1024 * kMiB;
constexpr std::uint64_t kRequestBytes[] = {4096, 64 * 1024, kMiB, 4 * kMiB, 16 * kMiB, 64 * kMiB, 256 * kMiB};

std::string read_report(const std::string& path) {
    struct stat state {};
    if (::stat(path.c_str(), &state) == 0 && !S_ISREG(state.st_mode)) {
        throw Error(ErrorCode::not_regular_file,
                    fmt::format("--compare: '{}' is {}; name a file that `waybill bench --json` wrote", path, kind_of_file(state.st_mode)));
    }
    std::ifstream in(path, std::ios::binary);
    if (!in) {
        throw Error(ErrorCode::file_not_found, fmt::format("--compare: cannot read '{}'", path));
    }
    return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> paths_of(const BenchArguments& arguments, int device) {
    const bool all = std::find(arguments.paths.begin(), arguments.paths.end(), "all") != arguments.paths.end();
    if (!arguments.paths.empty() && !all) {
        return arguments.paths;
    }
    return device < 0 && !all ? std::vector<std::string>{"host"}
                              : std::vector<std::string>(std::begin(kBenchPaths), std::end(kBenchPaths));
}

std::vector<std::uint64_t> requests_of(const BenchArguments& arguments, std::uint64_t file_bytes) {
    std::vector<std::uint64_t> sizes = arguments.request_bytes;
    if (sizes.empty()) {
        sizes.assign(std::begin(kRequestBytes), std::end(kRequestBytes));
        std::erase_if(sizes, [&](std::uint64_t size) { return size >= file_bytes; });
        sizes.push_back(file_bytes);
    }
    for (const std::uint64_t size : sizes) {
        if (size == 0 || size > file_bytes) {
            throw Error(ErrorCode::invalid_argument,
                        fmt::format("--requests: {} does not fit in the {} that are read; give 1 to that many bytes", size_text(size),
                                    size_text(file_bytes)));
        }
    }
    return sizes;
}

std::uint64_t bytes_to_use(const std::string& file, const std::optional<std::uint64_t>& wanted) {
    const std::uint64_t size = File::open(file).size();
    if (size == 0) {
        throw Error(ErrorCode::invalid_argument, fmt::format("'{}' is empty: there is nothing to measure", file));
    }
    return std::min(wanted.value_or(size), size);
}

}  // namespace

int run_bench(const BenchArguments& arguments) {
    const bool on_terminal = ::isatty(STDERR_FILENO) != 0;
    const std::optional<std::string> earlier = arguments.compare ? std::optional(read_report(*arguments.compare)) : std::nullopt;
    if (arguments.plot) {
        check_plotter();
    }
    (void)machine_facts(resolve_settings({arguments.settings, {}}));  // a wrong setting is no row that cannot be measured
    const Place place = find_place(arguments.to);
    std::optional<TestFile> made;
    if (arguments.file.empty()) {
        print_note("making a file of " + size_text(arguments.size_bytes.value_or(kTestFileBytes)));
        made.emplace(std::filesystem::current_path().string(), arguments.size_bytes.value_or(kTestFileBytes));
    }
    BenchQuestion question;
    question.file = made ? made->path() : arguments.file;
    question.device = place.device;
    question.size_bytes = bytes_to_use(question.file, arguments.size_bytes);
    question.paths = paths_of(arguments, place.device);
    question.request_bytes = requests_of(arguments, question.size_bytes);
    question.threads = arguments.threads;
    question.hot = arguments.cache != "cold";
    question.cold = arguments.cache != "hot";
    question.time_ns = static_cast<std::uint64_t>(arguments.time.count());
    question.settings = arguments.settings;
    BenchReport report = measure_bench(question, [&](const std::string& what) {
        if (on_terminal) {
            print_note("measuring " + what);
        }
    });
    if (made) {
        report.file = "a file made for it in " + std::filesystem::current_path().string();
    }
    if (!place.note.empty()) {
        report.notes.push_back(place.note);
    }
    if (earlier && compare_with(report, *earlier, *arguments.compare) == 0) {
        report.notes.push_back(fmt::format("no row of '{}' is of the same measurement", *arguments.compare));
    }
    print(arguments.json ? bench_json(report, 2) + "\n" : to_text(report));
    if (arguments.plot) {
        draw_plot(report, *arguments.plot);
    }
    return 0;
}

}  // namespace waybill
