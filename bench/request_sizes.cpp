// Throughput of one hot read into GPU memory, by request size, number of threads and size of the pinned slots: what the
// mover's choices of both rest on. Target waybill_request_sizes; needs a GPU. Threads 0: the mover's own choice.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "waybill/waybill.hpp"

namespace {

using namespace waybill;

constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kLargestMiB = 256;

std::string make_file() {
    char name[] = "/tmp/waybill_bench_XXXXXX";
    const int fd = ::mkstemp(name);
    const std::vector<char> bytes(kMiB, 'x');
    for (std::int64_t k = 0; k < kLargestMiB; ++k) {
        if (::write(fd, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
            std::abort();
        }
    }
    ::close(fd);
    return name;
}

void read_request(benchmark::State& state, const std::string& file_name) {
    const auto size = static_cast<std::uint64_t>(state.range(0) * kMiB);
    SettingValues settings;
    if (state.range(1) != 0) {
        settings["num_threads"] = std::to_string(state.range(1));
    }
    if (state.range(2) != 0) {
        settings["bounce_buffer_size"] = std::to_string(state.range(2)) + "KiB";
    }
    const File file = File::open(file_name, Mode::read, {settings, {}});
    const Buffer buffer = Buffer::on_gpu(0, size);
    Request request;
    request.size_bytes = size;
    request.target = {buffer.data(), size, {}, false};
    for (int warm = 0; warm < 3; ++warm) {
        (void)file.read(request);
    }
    for (auto _ : state) {
        benchmark::DoNotOptimize(file.read(request));
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * static_cast<std::int64_t>(size));
}

}  // namespace

int main(int count, char** words) {
    const std::string file_name = make_file();
    for (const std::int64_t mib : {1, 4, 16, 64, 256}) {
        for (const std::int64_t threads : {0, 1, 2, 4, 8, 12}) {
            for (const std::int64_t slot_kib : {0, 512, 1024, 2048}) {
                if (threads != 0 || slot_kib == 0) {
                    benchmark::RegisterBenchmark("request", read_request, file_name)
                        ->ArgNames({"MiB", "threads", "slot_KiB"})->Args({mib, threads, slot_kib})->UseRealTime()->MinTime(0.1);
                }
            }
        }
    }
    benchmark::Initialize(&count, words);
    benchmark::RunSpecifiedBenchmarks();
    std::filesystem::remove(file_name);
}
