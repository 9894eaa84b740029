#include "stats/openmetrics.hpp"

#include <functional>
#include <iterator>

#include <fmt/format.h>

#include "stats/contradictions.hpp"

namespace waybill {
namespace {

using Out = std::back_insert_iterator<std::string>;

// Edges of exported buckets: powers of two from 1 us (2^10 ns) to a minute (2^36 ns), which are edges of ours too.
constexpr unsigned kFirstPower = 10;
constexpr unsigned kLastPower = 36;

// The length of the UTF-8 sequence that `text` starts with, or 0 when it is none (RFC 3629).
std::size_t utf8_length(std::string_view text) noexcept {
    const auto at = [&](std::size_t k) { return k < text.size() ? static_cast<unsigned char>(text[k]) : 0U; };
    const auto tail = [&](std::size_t k) { return (at(k) & 0xC0U) == 0x80U; };
    const unsigned first = at(0);
    if (first < 0x80) {
        return 1;
    }
    if (first >= 0xC2 && first < 0xE0) {
        return tail(1) ? 2 : 0;
    }
    if (first >= 0xE0 && first < 0xF0) {
        const bool right = (first != 0xE0 || at(1) >= 0xA0) && (first != 0xED || at(1) < 0xA0);
        return right && tail(1) && tail(2) ? 3 : 0;
    }
    if (first >= 0xF0 && first < 0xF5) {
        const bool right = (first != 0xF0 || at(1) >= 0x90) && (first != 0xF4 || at(1) < 0x90);
        return right && tail(1) && tail(2) && tail(3) ? 4 : 0;
    }
    return 0;
}

std::string process_labels(const ProcessStats& stats) {
    return fmt::format("pid=\"{}\",command=\"{}\"", stats.pid, openmetrics_label(stats.command));
}

std::string place_labels(const ProcessStats& stats, int device) {
    std::string uuid;
    for (const GpuStats& gpu : stats.gpus) {
        if (gpu.device == device) {
            uuid = gpu.uuid;
        }
    }
    return fmt::format("{},to=\"{}\",uuid=\"{}\"", process_labels(stats), device < 0 ? std::string("host") : fmt::format("gpu:{}", device),
                       openmetrics_label(uuid));
}

std::string path_labels(const ProcessStats& stats, const PathStats& path) {
    return fmt::format("{},path=\"{}\",direction=\"{}\"", place_labels(stats, path.device), to_text(path.path), to_text(path.direction));
}

class Families {
public:
    Families(std::string& text, std::span<const ProcessStats> processes) : out_(text), processes_(processes) {}

    void head(std::string_view name, std::string_view type, std::string_view help, std::string_view unit = {}) {
        fmt::format_to(out_, "# TYPE {} {}\n", name, type);
        if (!unit.empty()) {
            fmt::format_to(out_, "# UNIT {} {}\n", name, unit);
        }
        fmt::format_to(out_, "# HELP {} {}\n", name, help);
    }

    // A counter with a sample for every path.
    void paths(std::string_view name, std::string_view help, std::uint64_t PathStats::*field, std::string_view unit = {}) {
        head(name, "counter", help, unit);
        each_path([&](const ProcessStats& stats, const PathStats& path) {
            fmt::format_to(out_, "{}_total{{{}}} {}\n", name, path_labels(stats, path), path.*field);
        });
    }

    void sources() {
        head("waybill_source_bytes", "counter", "Bytes of reads by where they were.", "bytes");
        each_path([&](const ProcessStats& stats, const PathStats& path) {
            if (path.direction == Direction::write) {
                return;
            }
            const auto sample = [&](std::string_view source, std::uint64_t bytes) {
                fmt::format_to(out_, "waybill_source_bytes_total{{{},source=\"{}\"}} {}\n", path_labels(stats, path), source, bytes);
            };
            sample("page-cache", path.source.page_cache_bytes);
            sample("device", path.source.device_bytes);
            sample("unknown", path.source.unknown_bytes);
        });
    }

    void durations() {
        constexpr std::string_view kName = "waybill_request_duration_seconds";
        head(kName, "histogram", "How long requests without an error took.", "seconds");
        each_path([&](const ProcessStats& stats, const PathStats& path) {
            const std::string labels = path_labels(stats, path);
            std::uint64_t sum = 0;
            std::size_t bucket = 0;
            for (unsigned power = kFirstPower; power <= kLastPower; ++power) {
                const std::uint64_t edge_ns = (std::uint64_t{1} << power) - 1;
                for (; bucket < path.latencies.buckets.size() && histogram_end_ns(bucket) <= edge_ns; ++bucket) {
                    sum += path.latencies.buckets[bucket];
                }
                fmt::format_to(out_, "{}_bucket{{{},le=\"{}\"}} {}\n", kName, labels, static_cast<double>(edge_ns) / 1e9, sum);
            }
            fmt::format_to(out_, "{}_bucket{{{},le=\"+Inf\"}} {}\n", kName, labels, path.latencies.count);
            fmt::format_to(out_, "{}_count{{{}}} {}\n", kName, labels, path.latencies.count);
            fmt::format_to(out_, "{}_sum{{{}}} {}\n", kName, labels, static_cast<double>(path.latencies.sum_ns) / 1e9);
        });
    }

    void cufile(std::string_view name, std::string_view help, std::uint64_t CufileCounters::*field, std::string_view unit = {}) {
        head(name, "counter", help, unit);
        each_cufile([&](const std::string& labels, const CufileCounters& counters) {
            fmt::format_to(out_, "{}_total{{{}}} {}\n", name, labels, counters.*field);
        });
    }

    void cufile_operations() {
        head("waybill_cufile_operations", "counter", "Operations that cuFile itself counted, by path.");
        each_cufile([&](const std::string& labels, const CufileCounters& counters) {
            const auto sample = [&](std::string_view path, std::uint64_t count) {
                fmt::format_to(out_, "waybill_cufile_operations_total{{{},path=\"{}\"}} {}\n", labels, path, count);
            };
            sample("nvidia-fs", counters.nvfs);
            sample("p2pdma", counters.p2pdma);
            sample("cufile-posix", counters.posix);
        });
    }

    void processes() {
        head("waybill_refused_requests", "counter", "Requests that failed before a byte moved.");
        for (const ProcessStats& stats : processes_) {
            for (const Direction direction : {Direction::read, Direction::write}) {
                fmt::format_to(out_, "waybill_refused_requests_total{{{},direction=\"{}\"}} {}\n", process_labels(stats),
                               to_text(direction), stats.refused[static_cast<std::size_t>(direction)]);
            }
        }
        head("waybill_contradictions", "gauge", "Places where cuFile's counters and Waybill's contradict each other.");
        for (const ProcessStats& stats : processes_) {
            fmt::format_to(out_, "waybill_contradictions{{{}}} {}\n", process_labels(stats), contradictions(stats).size());
        }
        head("waybill_first_request_seconds", "gauge", "When the process made its first request, in seconds since 1970.", "seconds");
        for (const ProcessStats& stats : processes_) {
            fmt::format_to(out_, "waybill_first_request_seconds{{{}}} {}\n", process_labels(stats),
                           static_cast<double>(stats.start_unix_ns) / 1e9);
        }
    }

private:
    void each_path(const std::function<void(const ProcessStats&, const PathStats&)>& use) const {
        for (const ProcessStats& stats : processes_) {
            for (const PathStats& path : stats.paths) {
                use(stats, path);
            }
        }
    }
    void each_cufile(const std::function<void(const std::string&, const CufileCounters&)>& use) const {
        for (const ProcessStats& stats : processes_) {
            for (const GpuStats& gpu : stats.gpus) {
                for (const Direction direction : {Direction::read, Direction::write}) {
                    if (gpu.looked) {
                        use(fmt::format("{},direction=\"{}\"", place_labels(stats, gpu.device), to_text(direction)),
                            gpu.cufile[static_cast<std::size_t>(direction)].counters);
                    }
                }
            }
        }
    }

    Out out_;
    std::span<const ProcessStats> processes_;
};

}  // namespace

std::string openmetrics_label(std::string_view value) {
    std::string text;
    while (!value.empty()) {
        const std::size_t length = utf8_length(value);
        if (length == 0) {
            text += "\xEF\xBF\xBD";
        } else if (value[0] == '\\' || value[0] == '"') {
            text += '\\';
            text += value[0];
        } else if (value[0] == '\n') {
            text += "\\n";
        } else {
            text += value.substr(0, length);
        }
        value.remove_prefix(length == 0 ? 1 : length);
    }
    return text;
}

std::string openmetrics(std::span<const ProcessStats> processes) {
    std::string text;
    Families families(text, processes);
    families.paths("waybill_requests", "Requests that ended, with an error too.", &PathStats::requests);
    families.paths("waybill_errors", "Requests that ended with an error.", &PathStats::errors);
    families.paths("waybill_contradicted_receipts", "Receipts that a counter contradicted.", &PathStats::contradicted);
    families.paths("waybill_tasks", "Tasks of requests.", &PathStats::tasks);
    families.paths("waybill_asked_bytes", "Bytes that were asked for.", &PathStats::asked_bytes, "bytes");
    families.paths("waybill_moved_bytes", "Bytes that were moved.", &PathStats::moved_bytes, "bytes");
    families.sources();
    families.durations();
    families.cufile_operations();
    families.cufile("waybill_cufile_bytes", "Bytes that cuFile itself counted.", &CufileCounters::bytes, "bytes");
    families.cufile("waybill_cufile_errors", "Errors that cuFile itself counted.", &CufileCounters::errors);
    families.processes();
    return text + "# EOF\n";
}

}  // namespace waybill
