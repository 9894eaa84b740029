// What counting costs a 4 KiB read: the same reads with the setting stats on and off, side by side.
//
// Rounds alternate, so that a change of the processor's speed meets both; each round compares the medians of its own batches
// of reads (a clock may tick in tens of nanoseconds), and the result is the median of the rounds with its quartiles. The same
// comparison of off with off tells what the method itself makes up. Target waybill_stats_overhead.
//   waybill_stats_overhead [ROUNDS] [READS]
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "waybill/waybill.hpp"

namespace {

using namespace waybill;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kBytes = 4096;
constexpr int kBatch = 10;

std::string make_file() {
    char name[] = "/tmp/waybill_bench_XXXXXX";
    const int fd = ::mkstemp(name);
    const std::vector<char> bytes(1 << 20, 'x');
    if (::write(fd, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
        std::abort();
    }
    ::close(fd);
    return name;
}

double quantile(std::vector<double> values, double part) {
    std::sort(values.begin(), values.end());
    return values[static_cast<std::size_t>(part * static_cast<double>(values.size() - 1))];
}

// Nanoseconds of a read, of the median batch.
double median_read(const File& file, const Buffer& buffer, int reads) {
    Request request;
    request.size_bytes = kBytes;
    request.target = {buffer.data(), kBytes, {}, false};
    std::vector<double> times;
    times.reserve(static_cast<std::size_t>(reads));
    for (int k = 0; k < reads; k += kBatch) {
        const auto start = Clock::now();
        for (int turn = 0; turn < kBatch; ++turn) {
            (void)file.read(request);
        }
        times.push_back(std::chrono::duration<double, std::nano>(Clock::now() - start).count() / kBatch);
    }
    return quantile(std::move(times), 0.5);
}

void compare(const char* name, const char* setting, const std::string& path, const Buffer& buffer, int rounds, int reads) {
    const File on = File::open(path, Mode::read, {{{"stats", setting}}, {}});
    const File off = File::open(path, Mode::read, {{{"stats", "off"}}, {}});
    median_read(on, buffer, reads);
    median_read(off, buffer, reads);
    std::vector<double> with;
    std::vector<double> without;
    std::vector<double> difference;
    for (int round = 0; round < rounds; ++round) {
        const bool on_first = round % 2 == 0;
        const double first = median_read(on_first ? on : off, buffer, reads);
        const double second = median_read(on_first ? off : on, buffer, reads);
        with.push_back(on_first ? first : second);
        without.push_back(on_first ? second : first);
        difference.push_back(with.back() / without.back() * 100 - 100);
    }
    std::printf("4 KiB to %-6s off %8.1f ns  %-3s %8.1f ns  difference %+.2f %% (quartiles %+.2f, %+.2f; %d rounds of %d reads)\n", name,
                quantile(without, 0.5), setting, quantile(with, 0.5), quantile(difference, 0.5), quantile(difference, 0.25),
                quantile(difference, 0.75), rounds, reads);
}

}  // namespace

int main(int count, char** words) {
    const int rounds = count > 1 ? std::atoi(words[1]) : 200;
    const int reads = count > 2 ? std::atoi(words[2]) : 1000;
    const std::string path = make_file();
    for (const char* setting : {"on", "off"}) {
        compare("host", setting, path, waybill::Buffer::on_host(kBytes), rounds, reads);
        if (!waybill::list_gpus().empty()) {
            compare("gpu:0", setting, path, waybill::Buffer::on_gpu(0, kBytes), rounds, reads);
        }
    }
    std::filesystem::remove(path);
}
