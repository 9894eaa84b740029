// What the driver's calls of one small read cost, each by itself and in the orders that a read could use them in: needs a GPU.
// cmake target waybill_driver_calls. Times are medians in ns.
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

#include "gpu/cuda.hpp"
#include "gpu/pointer.hpp"
#include "pool/slots.hpp"
#include "waybill/waybill.hpp"

namespace {

using namespace waybill;

std::uint64_t median_ns(const std::function<void()>& call) {
    std::vector<std::uint64_t> times;
    for (int k = 0; k < 3000; ++k) {
        const auto start = std::chrono::steady_clock::now();
        call();
        times.push_back(static_cast<std::uint64_t>((std::chrono::steady_clock::now() - start).count()));
    }
    std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
    return times[times.size() / 2];
}

void show(const char* name, const std::function<void()>& call) {
    std::printf("%-64s %8llu\n", name, static_cast<unsigned long long>(median_ns(call)));
}

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Slots copied in turn over several streams, with nothing between them.
void time_streams(const CudaApi& api) {
    constexpr std::size_t kTotal = std::size_t(1) << 30;
    const Buffer target = Buffer::on_gpu(0, kTotal);
    for (const std::size_t size : {std::size_t(1) << 20, std::size_t(2) << 20, std::size_t(4) << 20, std::size_t(8) << 20}) {
        std::vector<SlotLease> slots;
        for (std::size_t k = 0; k < 24; ++k) {
            slots.emplace_back(SlotPool::instance().take(size, 512 << 20, &api));
        }
        std::printf("-- 1 GiB in copies of %zu KiB of pinned memory, GB/s:", size >> 10);
        for (const std::size_t count : {1, 2, 4, 12}) {
            std::vector<CuStream> streams(count);
            for (CuStream& stream : streams) {
                check_cuda(api.stream_create(&stream, kStreamNonBlocking), "cuStreamCreate");
            }
            double best = 0;
            for (int round = 0; round < 3; ++round) {
                const auto start = std::chrono::steady_clock::now();
                for (std::size_t at = 0, k = 0; at < kTotal; at += size, ++k) {
                    api.copy_to_device_async(reinterpret_cast<CuPointer>(target.data()) + at, slots[k % slots.size()]->memory, size,
                                             streams[k % count]);
                }
                for (const CuStream stream : streams) {
                    api.stream_synchronize(stream);
                }
                best = std::max(best, double(kTotal) / seconds_since(start) / 1e9);
            }
            std::printf("  %zu streams %.1f", count, best);
        }
        std::printf("\n");
    }
}

// What it takes to have pinned memory: bringing its pages in, and registering it, in one piece or in slots, by one thread or many.
void time_pinning(const CudaApi& api) {
    constexpr std::size_t kSlot = std::size_t(4) << 20;
    constexpr std::size_t kSlots = 24;
    constexpr int kPopulateWrite = 23;
    for (const std::size_t each : {kSlot, 6 * kSlot, kSlots * kSlot}) {
        for (const bool together : {false, true}) {
            std::vector<std::byte*> pieces;
            for (std::size_t k = 0; k < kSlots * kSlot / each; ++k) {
                auto* const memory = static_cast<std::byte*>(std::aligned_alloc(2 << 20, each));
                ::madvise(memory, each, MADV_HUGEPAGE);
                pieces.push_back(memory);
            }
            const auto all = [&](auto&& call) {
                const auto start = std::chrono::steady_clock::now();
                if (!together) {
                    std::for_each(pieces.begin(), pieces.end(), call);
                    return seconds_since(start) * 1e3;
                }
                std::vector<std::thread> threads;
                for (std::size_t k = 0; k < std::min<std::size_t>(12, pieces.size()); ++k) {
                    threads.emplace_back([&, k] {
                        for (std::size_t piece = k; piece < pieces.size(); piece += 12) {
                            call(pieces[piece]);
                        }
                    });
                }
                for (std::thread& thread : threads) {
                    thread.join();
                }
                return seconds_since(start) * 1e3;
            };
            const double populate = all([&](std::byte* memory) { ::madvise(memory, each, kPopulateWrite); });
            const double registering = all([&](std::byte* memory) { api.host_register(memory, each, kHostPortable); });
            std::printf("-- 96 MiB in pieces of %zu MiB, %s: populate %.1f ms, register %.1f ms\n", each >> 20,
                        together ? "by up to 12 threads" : "by one thread", populate, registering);
            for (std::byte* const memory : pieces) {
                api.host_unregister(memory);
                std::free(memory);
            }
        }
    }
}

}  // namespace

int main() {
    const CudaApi& api = cuda();
    const CuContext context = primary_context(0);
    const Buffer buffer = Buffer::on_gpu(0, 8 << 20);
    const auto target = reinterpret_cast<CuPointer>(buffer.data());
    api.context_push(context);
    const SlotLease slot(SlotPool::instance().take(4 << 20, 64 << 20, &api));
    CuStream lane = nullptr;
    check_cuda(api.stream_create(&lane, kStreamNonBlocking), "cuStreamCreate");
    CuEvent spinning = nullptr;
    CuEvent sleeping = nullptr;
    check_cuda(api.event_create(&spinning, kEventDisableTiming), "cuEventCreate");
    check_cuda(api.event_create(&sleeping, kEventDisableTiming | kEventBlockingSync), "cuEventCreate");

    show("clock alone", [] {});
    show("cuPointerGetAttributes of 6 (find_owner)", [&] { (void)find_owner(buffer.data()); });
    show("cuCtxPushCurrent + cuCtxPopCurrent", [&] { const CurrentContext current(context); });
    show("cuCtxGetCurrent", [&] {
        CuContext current = nullptr;
        api.context_current(&current);
    });
    show("cuThreadExchangeStreamCaptureMode, twice", [&] { const RelaxedCapture relaxed(api); });
    show("cuCtxGetId", [&] {
        unsigned long long id = 0;
        api.context_id(context, &id);
    });
    for (CuStream stream : {CuStream(nullptr), lane}) {
        std::printf("-- stream %s\n", stream == nullptr ? "legacy" : "of its own, non-blocking");
        show("cuStreamIsCapturing", [&] {
            int capturing = 0;
            api.stream_is_capturing(stream, &capturing);
        });
        show("cuStreamQuery", [&] { api.stream_query(stream); });
        show("cuEventRecord", [&] { api.event_record(spinning, stream); });
        show("cuStreamSynchronize, idle", [&] { api.stream_synchronize(stream); });
        for (const std::size_t size : {std::size_t(4096), std::size_t(65536), std::size_t(262144), std::size_t(1 << 20)}) {
            std::printf("   %zu bytes\n", size);
            show("copy + cuStreamSynchronize", [&] {
                api.copy_to_device_async(target, slot->memory, size, stream);
                api.stream_synchronize(stream);
            });
            show("copy alone (waits outside of the clock are not taken out)", [&] { api.copy_to_device_async(target, slot->memory, size, stream); });
            api.stream_synchronize(stream);
            show("copy + event + cuEventSynchronize, spinning", [&] {
                api.copy_to_device_async(target, slot->memory, size, stream);
                api.event_record(spinning, stream);
                api.event_synchronize(spinning);
            });
            show("copy + event + cuEventSynchronize, sleeping", [&] {
                api.copy_to_device_async(target, slot->memory, size, stream);
                api.event_record(sleeping, stream);
                api.event_synchronize(sleeping);
            });
            show("copy + cuStreamQuery until done", [&] {
                api.copy_to_device_async(target, slot->memory, size, stream);
                while (api.stream_query(stream) == kCudaNotReady) {
                }
            });
            show("two copies of halves + cuStreamSynchronize", [&] {
                api.copy_to_device_async(target, slot->memory, size / 2, stream);
                api.copy_to_device_async(target + size / 2, slot->memory + size / 2, size / 2, stream);
                api.stream_synchronize(stream);
            });
        }
    }
    std::printf("-- synchronous, of pinned memory and of pageable memory\n");
    std::vector<char> pageable(1 << 20, 'x');
    for (const std::size_t size : {std::size_t(4096), std::size_t(65536), std::size_t(1 << 20)}) {
        std::printf("   %zu bytes\n", size);
        show("cuMemcpyHtoD, pinned", [&] { api.copy_to_device(target, slot->memory, size); });
        show("cuMemcpyHtoD, pageable", [&] { api.copy_to_device(target, pageable.data(), size); });
    }
    std::printf("-- many copies of 64 KiB, time of the calls alone for each copy\n");
    for (const std::size_t count : {std::size_t(4), std::size_t(16), std::size_t(64)}) {
        std::vector<CuPointer> to;
        std::vector<CuPointer> from;
        std::vector<std::size_t> sizes(count, 65536);
        for (std::size_t k = 0; k < count; ++k) {
            to.push_back(target + (count - 1 - k) * 65536);
            from.push_back(reinterpret_cast<CuPointer>(slot->memory) + k * 65536);
        }
        CuCopyAttributes attributes{kSourceInStreamOrder, {kLocationHost, 0}, {kLocationDevice, 0}, 0};
        std::size_t first = 0;
        const std::uint64_t each = median_ns([&] {
            for (std::size_t k = 0; k < count; ++k) {
                api.copy_to_device_async(to[k], slot->memory + k * 65536, 65536, lane);
            }
            api.stream_synchronize(lane);
        });
        CuStatus status = kCudaSuccess;
        const std::uint64_t batch = api.copy_batch_async == nullptr ? 0 : median_ns([&] {
            status = api.copy_batch_async(to.data(), from.data(), sizes.data(), count, &attributes, &first, 1, lane);
            api.stream_synchronize(lane);
        });
        std::printf("   %zu: one by one %llu ns, in one call %llu ns (status %d)\n", count, static_cast<unsigned long long>(each),
                    static_cast<unsigned long long>(batch), status);
    }
    time_streams(api);
    time_pinning(api);
    CuContext ours = nullptr;
    api.context_pop(&ours);
}
