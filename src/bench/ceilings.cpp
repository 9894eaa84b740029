#include "bench/ceilings.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/fd.hpp"
#include "base/text.hpp"
#include "gpu/cuda.hpp"
#include "waybill/buffer.hpp"

namespace waybill {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kChunkBytes = 4 * kMiB;
constexpr std::uint64_t kQueueDepth = 16;  // drives were at their best from there on
constexpr std::uint64_t kMostMemoryThreads = 16;  // as many as a read of Waybill's uses at most
constexpr std::uint64_t kPinnedBytes = 256 * kMiB;
constexpr std::size_t kBlock = 4096;

double rate(std::uint64_t bytes, std::uint64_t ns) { return ns == 0 ? 0.0 : static_cast<double>(bytes) / static_cast<double>(ns); }

// Page-aligned memory that has its pages, pinned on request.
class Memory {
public:
    explicit Memory(std::size_t size_bytes)
        : size_bytes_(size_bytes),
          bytes_(::mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0)) {
        if (bytes_ == MAP_FAILED) {
            throw Error(ErrorCode::out_of_memory, fmt::format("{} of memory cannot be had", size_text(size_bytes)));
        }
    }
    ~Memory() {
        if (api_ != nullptr) {
            api_->host_unregister(bytes_);
        }
        ::munmap(bytes_, size_bytes_);
    }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;

    void pin(const CudaApi& api) {
        check_cuda(api.host_register(bytes_, size_bytes_, kHostPortable), "cuMemHostRegister");
        api_ = &api;
    }
    [[nodiscard]] std::byte* data() const noexcept { return static_cast<std::byte*>(bytes_); }

private:
    std::size_t size_bytes_;
    void* bytes_;
    const CudaApi* api_ = nullptr;
};

// Runs `work` in so many threads at once; the time until the last has ended.
template <class Work>
std::uint64_t time_of(std::uint64_t threads, Work work) {
    const std::uint64_t start = now_ns();
    std::vector<std::jthread> running;
    for (std::uint64_t k = 0; k < threads; ++k) {
        running.emplace_back([&work, k] { work(k); });
    }
    running.clear();
    return now_ns() - start;
}

}  // namespace

Ceiling measure_memory(std::uint64_t time_ns) {
    const std::uint64_t threads = std::clamp<std::uint64_t>(std::thread::hardware_concurrency(), 1, kMostMemoryThreads);
    std::vector<std::unique_ptr<Memory>> sources;
    std::vector<std::unique_ptr<Memory>> targets;
    for (std::uint64_t k = 0; k < threads; ++k) {
        sources.push_back(std::make_unique<Memory>(16 * kChunkBytes));  // more than a core's cache
        targets.push_back(std::make_unique<Memory>(16 * kChunkBytes));
    }
    std::atomic<std::uint64_t> bytes{0};
    const std::uint64_t end = now_ns() + time_ns;
    const std::uint64_t ns = time_of(threads, [&](std::uint64_t k) {
        do {
            std::memcpy(targets[k]->data(), sources[k]->data(), 16 * kChunkBytes);
            bytes += 16 * kChunkBytes;
        } while (now_ns() < end);
    });
    return {"memory", rate(bytes, ns), fmt::format("memcpy by {} threads", threads)};
}

Ceiling measure_drive(const std::string& file, std::uint64_t size_bytes, std::uint64_t time_ns) {
    const Fd fd(::open(file.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC));
    if (!fd) {
        return {"drive", 0.0, fmt::format("not measured: the file cannot be opened with O_DIRECT ({})", std::strerror(errno))};
    }
    std::atomic<std::uint64_t> next{0};
    std::atomic<std::uint64_t> bytes{0};
    std::atomic<int> problem{0};
    const std::uint64_t end = now_ns() + time_ns;
    const std::uint64_t ns = time_of(kQueueDepth, [&](std::uint64_t) {
        const Memory buffer(kChunkBytes);
        for (std::uint64_t at = next.fetch_add(kChunkBytes); at < size_bytes && now_ns() < end; at = next.fetch_add(kChunkBytes)) {
            const std::size_t wanted = (std::min(kChunkBytes, size_bytes - at) + kBlock - 1) / kBlock * kBlock;
            const ssize_t count = ::pread(fd.get(), buffer.data(), wanted, static_cast<off_t>(at));
            if (count < 0) {
                problem = errno;
                return;
            }
            bytes += static_cast<std::uint64_t>(count);
        }
    });
    if (problem != 0) {
        return {"drive", 0.0, fmt::format("not measured: a direct read failed ({})", std::strerror(problem))};
    }
    return {"drive", rate(bytes, ns),
            fmt::format("direct reads of {}, {} at a time, {} in all", size_text(kChunkBytes), kQueueDepth, size_text(bytes))};
}

Ceiling measure_pinned_copy(int device, std::uint64_t time_ns) {
    const CudaApi& api = cuda();
    Buffer target = Buffer::on_gpu(device, kPinnedBytes);
    const CurrentContext current(primary_context(device));
    Memory source(kPinnedBytes);
    source.pin(api);
    const auto copy = [&] {
        const std::uint64_t start = now_ns();
        check_cuda(api.copy_to_device_async(reinterpret_cast<CuPointer>(target.data()), source.data(), kPinnedBytes, nullptr),
                   "cuMemcpyHtoDAsync");
        check_cuda(api.stream_synchronize(nullptr), "cuStreamSynchronize");
        return now_ns() - start;
    };
    std::uint64_t best = copy();
    const std::uint64_t end = now_ns() + time_ns;
    do {
        best = std::min(best, copy());
    } while (now_ns() < end);
    return {"pinned-copy", rate(kPinnedBytes, best), fmt::format("one copy of {} of pinned memory to the GPU, the best of several", size_text(kPinnedBytes))};
}

}  // namespace waybill
