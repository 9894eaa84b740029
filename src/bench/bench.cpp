#include "bench/bench.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <numeric>
#include <thread>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/text.hpp"
#include "bench/cache.hpp"
#include "bench/ceilings.hpp"
#include "gpu/devices.hpp"
#include "waybill/buffer.hpp"
#include "waybill/file.hpp"

namespace waybill {
namespace {

constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;

double processor_seconds() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) { return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6; };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Places of requests: each of the file's once, then again, in an order that no read-ahead foresees.
class Places {
public:
    Places(std::uint64_t file_bytes, std::uint64_t request_bytes)
        : request_bytes_(request_bytes), count_(std::max<std::uint64_t>(1, file_bytes / request_bytes)), step_(step_for(count_)) {}

    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
    [[nodiscard]] std::uint64_t at(std::uint64_t k) const noexcept { return k % count_ * step_ % count_ * request_bytes_; }

private:
    // About the golden section of `count`, and without a common divisor.
    static std::uint64_t step_for(std::uint64_t count) {
        std::uint64_t step = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(static_cast<double>(count) * 0.618));
        while (std::gcd(step, count) != 1) {
            ++step;
        }
        return step;
    }

    std::uint64_t request_bytes_;
    std::uint64_t count_;
    std::uint64_t step_;
};

SettingValues settings_of(const BenchRow& row, const SettingValues& others) {
    SettingValues settings = others;
    settings["compat_mode"] = row.path == "cufile" ? "off" : "on";
    settings["gds_threshold"] = "0";  // the path that was asked for, whatever the size
    if (row.hot) {
        settings["page_cache"] = "use";
    }
    if (row.threads_asked) {
        settings["num_threads"] = std::to_string(*row.threads_asked);
    }
    return settings;
}

class RowBench {
public:
    RowBench(BenchRow& row, const BenchQuestion& question)
        : row_(row), question_(question), places_(question.size_bytes, row.request_bytes),
          file_(File::open(question.file, Mode::read, {settings_of(row, question.settings), {}})),
          buffer_(row.path == "host" ? Buffer::on_host(row.request_bytes) : Buffer::on_gpu(question.device, row.request_bytes)) {}

    void run() {
        (void)read(0);  // pools, threads and drivers are set up
        if (!row_.hot) {
            row_.why_not = drop_from_cache(question_.file, question_.size_bytes);
            if (!row_.why_not.empty()) {
                return;
            }
        }
        const double processor_before = processor_seconds();
        const std::uint64_t start = now_ns();
        do {
            const Receipt receipt = read(row_.requests++);
            times_.push_back(receipt.times.total_ns);
            add(receipt);
        } while (now_ns() - start < question_.time_ns && (row_.hot || row_.requests < places_.count()));
        const std::uint64_t ns = now_ns() - start;
        row_.gb_per_s = static_cast<double>(bytes_) / static_cast<double>(std::max<std::uint64_t>(1, ns));
        row_.cpu_seconds_per_gib = (processor_seconds() - processor_before) / (static_cast<double>(bytes_) / kGiB);
        std::sort(times_.begin(), times_.end());
        row_.least_ns = times_.front();
        row_.median_ns = times_[times_.size() / 2];
        row_.most_ns = times_.back();
    }

private:
    Receipt read(std::uint64_t k) {
        Request request;
        request.file_offset = places_.at(k);
        request.size_bytes = row_.request_bytes;
        request.target = {buffer_.data(), buffer_.size_bytes(), {}, false};
        return file_.read(request);
    }
    void add(const Receipt& receipt) {
        bytes_ += receipt.moved_bytes;
        row_.took = row_.requests == 1 || row_.took == receipt.path ? receipt.path : Path::mixed;
        row_.threads = std::max(row_.threads, receipt.threads);
        row_.source.page_cache_bytes += receipt.source.page_cache_bytes;
        row_.source.device_bytes += receipt.source.device_bytes;
        row_.source.unknown_bytes += receipt.source.unknown_bytes;
        row_.source.estimated = row_.source.estimated || receipt.source.estimated;
    }

    BenchRow& row_;
    const BenchQuestion& question_;
    Places places_;
    File file_;
    Buffer buffer_;
    std::vector<std::uint64_t> times_;
    std::uint64_t bytes_ = 0;
};

const Ceiling* find(const std::vector<Ceiling>& ceilings, std::string_view id) {
    const auto found = std::find_if(ceilings.begin(), ceilings.end(),
                                    [&](const Ceiling& ceiling) { return ceiling.id == id && ceiling.gb_per_s > 0.0; });
    return found == ceilings.end() ? nullptr : &*found;
}

// A cold read cannot be faster than the drive either.
void add_share(BenchRow& row, const std::vector<Ceiling>& ceilings) {
    const Ceiling* bound = find(ceilings, row.path == "host" ? "memory" : "pinned-copy");
    const Ceiling* drive = row.hot ? nullptr : find(ceilings, "drive");
    if (drive != nullptr && (bound == nullptr || drive->gb_per_s < bound->gb_per_s)) {
        bound = drive;
    }
    if (bound != nullptr && row.why_not.empty()) {
        row.ceiling = bound->id;
        row.share = row.gb_per_s / bound->gb_per_s;
    }
}

std::vector<BenchRow> rows_of(const BenchQuestion& question) {
    std::vector<BenchRow> rows;
    std::vector<std::optional<std::uint64_t>> threads(question.threads.begin(), question.threads.end());
    if (threads.empty()) {
        threads.emplace_back();
    }
    for (const std::string& path : question.paths) {
        for (const bool hot : {true, false}) {
            for (const std::uint64_t request_bytes : question.request_bytes) {
                for (const auto& count : threads) {
                    if (hot ? question.hot : question.cold) {
                        rows.push_back({});
                        rows.back().path = path;
                        rows.back().hot = hot;
                        rows.back().request_bytes = request_bytes;
                        rows.back().threads_asked = count;
                    }
                }
            }
        }
    }
    return rows;
}

void measure(BenchRow& row, const BenchQuestion& question) {
    if (row.path != "host" && question.device < 0) {
        row.why_not = "there is no GPU";
        return;
    }
    try {
        RowBench(row, question).run();
    } catch (const Error& error) {
        row.why_not = error.what();
    }
}

}  // namespace

BenchReport measure_bench(const BenchQuestion& question, const std::function<void(const std::string&)>& step) {
    BenchReport report;
    report.file = question.file;
    report.size_bytes = question.size_bytes;
    report.cores = std::thread::hardware_concurrency();
    step("the ceilings");
    report.ceilings.push_back(measure_memory(question.time_ns));
    report.ceilings.push_back(measure_drive(question.file, question.size_bytes, question.time_ns));
    if (question.device >= 0) {
        report.gpu = gpu_device(question.device).facts.name;
        report.ceilings.push_back(measure_pinned_copy(question.device, question.time_ns));
    }
    if (question.hot) {
        bring_into_cache(question.file, question.size_bytes);
    }
    report.rows = rows_of(question);
    bool in_cache = question.hot;
    for (BenchRow& row : report.rows) {
        step(fmt::format("{}, {}, {}", row.path, row.hot ? "hot" : "cold", size_text(row.request_bytes)));
        if (row.hot && !in_cache) {
            bring_into_cache(question.file, question.size_bytes);
        }
        in_cache = row.hot;
        measure(row, question);
        add_share(row, report.ceilings);
    }
    return report;
}

}  // namespace waybill
