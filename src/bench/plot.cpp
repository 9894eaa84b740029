#include "bench/plot.hpp"

#include <stdio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <map>

#include <fmt/format.h>

#include "base/fd.hpp"
#include "base/text.hpp"

namespace waybill {
namespace {

// A text between quotes of gnuplot's.
std::string quoted(const std::string& text) {
    std::string result = "'";
    for (const char letter : text) {
        result += letter == '\'' ? "''" : std::string(1, letter == '\n' ? ' ' : letter);
    }
    return result + "'";
}

// Lines of the picture: the rows of one path and one state of the cache, by what they are called.
std::map<std::string, std::string> lines_of(const BenchReport& report) {
    std::map<std::string, std::string> lines;
    for (const BenchRow& row : report.rows) {
        if (row.why_not.empty()) {
            const std::string threads = row.threads_asked ? fmt::format(", {} threads", *row.threads_asked) : "";
            lines[fmt::format("{}, {}{}", row.path, row.hot ? "hot" : "cold", threads)] +=
                fmt::format("{} {:.6f}\n", row.request_bytes, row.gb_per_s);
        }
    }
    return lines;
}

bool is_program(const std::string& name) {
    const char* path = std::getenv("PATH");
    for (const std::string_view folder : split(path == nullptr ? "/usr/bin:/bin" : path, ':')) {
        if (::access(fmt::format("{}/{}", folder, name).c_str(), X_OK) == 0) {
            return true;
        }
    }
    return false;
}

}  // namespace

std::string plot_script(const BenchReport& report, const std::string& name) {
    std::string script;
    std::string plots;
    int number = 0;
    for (const auto& [title, points] : lines_of(report)) {
        const std::string block = fmt::format("$line{}", number++);
        script += fmt::format("{} << EOD\n{}EOD\n", block, points);
        plots += fmt::format("{}{} using 1:2 with linespoints title {}", plots.empty() ? "" : ", ", block, quoted(title));
    }
    for (const Ceiling& ceiling : report.ceilings) {
        if (ceiling.gb_per_s > 0.0) {
            plots += fmt::format("{}{:.6f} with lines dashtype 2 title {}", plots.empty() ? "" : ", ", ceiling.gb_per_s,
                                 quoted("at most: " + ceiling.id));
        }
    }
    script += fmt::format("set title {} noenhanced\nset key outside noenhanced\nset grid\nset logscale x 2\nset logscale y\n"
                          "set format x '%.0b%B'\nset xlabel 'size of a request (bytes)'\nset ylabel 'GB/s'\n",
                          quoted(report.file + (report.gpu.empty() ? "" : ", " + report.gpu)));
    for (const auto& [terminal, suffix] : {std::pair("svg size 1000,600 dynamic", "svg"), std::pair("png size 1000,600", "png")}) {
        script += fmt::format("set terminal {}\nset output {}\nplot {}\n", terminal, quoted(name + "." + suffix), plots);
    }
    return script;
}

void check_plotter() {
    if (!is_program("gnuplot")) {
        throw Error(ErrorCode::invalid_argument, "--plot draws with gnuplot, which is not here; install it (Debian: gnuplot-nox), or use --json");
    }
}

void draw_plot(const BenchReport& report, const std::string& name) {
    const std::string script = plot_script(report, name);
    FILE* const gnuplot = ::popen("gnuplot", "we");
    if (gnuplot == nullptr) {
        throw Error(ErrorCode::io_error, "cannot start gnuplot", native_errno(errno));
    }
    const bool written = ::fwrite(script.data(), 1, script.size(), gnuplot) == script.size();
    if (const int status = ::pclose(gnuplot); status != 0 || !written) {
        throw Error(ErrorCode::io_error, fmt::format("gnuplot could not draw '{}.svg' and '{}.png' (status {})", name, name, status));
    }
}

}  // namespace waybill
