// Cost of one small hot read, by size and destination, with and without evidence: BENCH=1 cmake target waybill_small_reads.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "waybill/waybill.hpp"

namespace {

using namespace waybill;

std::string make_file() {
    char name[] = "/tmp/waybill_bench_XXXXXX";
    const int fd = ::mkstemp(name);
    const std::vector<char> bytes(16 << 20, 'x');
    if (::write(fd, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
        std::abort();
    }
    ::close(fd);
    return name;
}

const std::string& file_name() {
    static const std::string name = make_file();
    return name;
}

void read_small(benchmark::State& state, bool to_gpu, const char* evidence) {
    const auto size = static_cast<std::uint64_t>(state.range(0));
    const File file = File::open(file_name(), Mode::read, {{{"evidence", evidence}}, {}});
    const Buffer buffer = to_gpu ? Buffer::on_gpu(0, size) : Buffer::on_host(size);
    Request request;
    request.size_bytes = size;
    request.target = {buffer.data(), size, {}, false};
    for (auto _ : state) {
        benchmark::DoNotOptimize(file.read(request));
    }
}

void plain_pread(benchmark::State& state) {
    const auto size = static_cast<std::size_t>(state.range(0));
    const int fd = ::open(file_name().c_str(), O_RDONLY);
    std::vector<char> buffer(size);
    for (auto _ : state) {
        benchmark::DoNotOptimize(::pread(fd, buffer.data(), size, 0));
    }
    ::close(fd);
}

}  // namespace

int main(int count, char** words) {
    for (const std::int64_t size : {4096, 65536, 1 << 20}) {
        benchmark::RegisterBenchmark("pread", plain_pread)->Arg(size);
        for (const char* evidence : {"off", "auto", "on"}) {
            benchmark::RegisterBenchmark((std::string("host/evidence=") + evidence).c_str(), read_small, false, evidence)->Arg(size);
        }
        if (!waybill::list_gpus().empty()) {
            benchmark::RegisterBenchmark("gpu/evidence=auto", read_small, true, "auto")->Arg(size);
            benchmark::RegisterBenchmark("gpu/evidence=off", read_small, true, "off")->Arg(size);
        }
    }
    benchmark::Initialize(&count, words);
    benchmark::RunSpecifiedBenchmarks();
    std::filesystem::remove(file_name());
}
