#include "gpu/cuda.hpp"

#include <pthread.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>

#include "base/clock.hpp"
#include "base/forks.hpp"
#include "base/library.hpp"
#include "gpu/cuda_entries.hpp"

namespace waybill {
namespace {

constexpr const char* kLibrary = "libcuda.so.1";

std::atomic<const CudaApi*> bound_api{nullptr};
std::atomic<bool> lost_by_fork{false};
std::atomic<std::uint64_t> init_time_ns{0};
std::atomic<std::uint64_t> context_time_ns{0};
std::mutex load_mutex;
std::atomic<bool> initialised{false};  // by us
std::atomic<bool> initialising{false};
bool used_before_fork = false;

bool driver_is_initialised(const CudaApi& api) noexcept {
    CuContext current = nullptr;
    return api.context_current(&current) != kCudaNotInitialized;
}

// Binds the entry points of a loaded library; null when one is missing, whose name is put in `missing`.
const CudaApi* bind(const Library& library, std::string& missing) {
    auto api = std::make_unique<CudaApi>();
    for (const CudaEntry& wanted : cuda_entries(*api)) {
        *wanted.slot = library.symbol(wanted.name);
        if (*wanted.slot == nullptr && !wanted.optional) {
            missing = wanted.name;
            return nullptr;
        }
    }
    const CudaApi* expected = nullptr;
    if (bound_api.compare_exchange_strong(expected, api.get())) {
        return api.release();  // for the life of the process
    }
    return expected;
}

// Binds the library if somebody has loaded it.
const CudaApi* find_loaded() noexcept {
    static std::atomic<unsigned long long> looked_at{0};
    const unsigned long long objects = loaded_objects();
    if (looked_at.load(std::memory_order_relaxed) == objects) {
        return nullptr;
    }
    try {
        const Library library = Library::if_loaded(kLibrary);
        std::string missing;
        if (const CudaApi* api = library ? bind(library, missing) : nullptr) {
            return api;
        }
    } catch (...) {
        return nullptr;
    }
    // Only now: another thread that sees this count must not take "being bound" for "not there".
    looked_at.store(objects, std::memory_order_relaxed);
    return nullptr;
}

class Initialising {
public:
    Initialising() noexcept { initialising.store(true); }
    ~Initialising() { initialising.store(false); }
    Initialising(const Initialising&) = delete;
    Initialising& operator=(const Initialising&) = delete;
};

// From the start, not from the first use on: a program may initialise CUDA without Waybill and use Waybill in a child alone.
void before_fork() noexcept {
    const CudaApi* api = bound_api.load();
    if (api == nullptr) {
        api = find_loaded();
    }
    // In the middle of its start the driver says that it has not begun, and a child could not finish it.
    used_before_fork = lost_by_fork.load() || initialising.load() || (api != nullptr && driver_is_initialised(*api));
}

[[maybe_unused]] const int watching_forks =
    ::pthread_atfork(&before_fork, nullptr, [] { lost_by_fork.store(used_before_fork); });

}  // namespace

const CudaApi* cuda_if_loaded() noexcept {
    if (lost_by_fork.load(std::memory_order_relaxed)) {
        return nullptr;
    }
    const CudaApi* api = bound_api.load(std::memory_order_acquire);
    return api != nullptr ? api : find_loaded();
}

const CudaApi& cuda() {
    if (cuda_lost_by_fork()) {
        throw_fork_after_cuda();
    }
    if (initialised.load(std::memory_order_acquire)) {
        return *bound_api.load();
    }
    const ForkHold hold;
    const std::lock_guard lock(load_mutex);
    const CudaApi* api = bound_api.load();
    if (api != nullptr && initialised) {
        return *api;
    }
    const Initialising in_progress;
    const std::uint64_t start = now_ns();
    if (api == nullptr) {
        const Library library = Library::load(kLibrary);
        if (!library) {
            throw Error(ErrorCode::no_gpu, "no GPU can be used: NVIDIA's driver library libcuda.so.1 is not installed (" +
                                               library.problem() + "); install the driver, or read to host memory");
        }
        std::string missing;
        api = bind(library, missing);
        if (api == nullptr) {
            throw Error(ErrorCode::no_gpu, "no GPU can be used: libcuda.so.1 has no entry point " + missing +
                                               "; Waybill needs a driver of CUDA 11.0 or newer");
        }
    }
    const CuStatus status = api->init(0);
    if (status == kCudaNotInitialized) {
        throw_fork_after_cuda();  // cuInit answers so in no other case
    }
    if (status == kCudaNoDevice) {
        throw Error(ErrorCode::no_gpu, "no GPU can be used: the driver sees none (is CUDA_VISIBLE_DEVICES empty?)",
                    native_cuda(status));
    }
    if (status != kCudaSuccess) {
        throw Error(ErrorCode::no_gpu, "no GPU can be used: cuInit failed; run nvidia-smi to see the driver's state",
                    native_cuda(status));
    }
    initialised = true;
    init_time_ns += now_ns() - start;
    return *api;
}

bool cuda_lost_by_fork() noexcept {
    return lost_by_fork.load(std::memory_order_relaxed);
}

void throw_fork_after_cuda() {
    throw Error(ErrorCode::fork_after_cuda,
                "this process was forked from one that had initialised CUDA, where no GPU call can work; start workers "
                "with the method 'spawn' or 'forkserver', or fork before the first GPU use");
}

namespace {

// The look comes first: a write to what all threads share is dear.
std::uint64_t take(std::atomic<std::uint64_t>& time_ns) noexcept {
    return time_ns.load(std::memory_order_relaxed) == 0 ? 0 : time_ns.exchange(0);
}

}  // namespace

std::uint64_t take_cuda_init_ns() noexcept {
    return take(init_time_ns);
}

std::uint64_t take_context_ns() noexcept {
    return take(context_time_ns);
}

CuContext primary_context(int device) {
    static std::mutex mutex;
    static auto& contexts = *new std::map<int, CuContext>();
    const CudaApi& api = cuda();
    const std::lock_guard lock(mutex);
    if (const auto found = contexts.find(device); found != contexts.end()) {
        return found->second;
    }
    int count = 0;
    check_cuda(api.device_count(&count), "cuDeviceGetCount");
    if (device < 0 || device >= count) {
        throw Error(ErrorCode::no_gpu, "there is no GPU " + std::to_string(device) + ": this process sees " +
                                           std::to_string(count) + ", numbered from 0");
    }
    const std::uint64_t start = now_ns();
    CuDevice handle = 0;
    check_cuda(api.device_get(&handle, device), "cuDeviceGet");
    CuContext context = nullptr;
    check_cuda(api.primary_context_retain(&context, handle), "cuDevicePrimaryCtxRetain");
    context_time_ns += now_ns() - start;
    contexts.emplace(device, context);
    return context;
}

NativeCode native_cuda(CuStatus status) {
    const char* name = nullptr;
    const CudaApi* api = bound_api.load();
    if (api == nullptr || api->error_name(status, &name) != kCudaSuccess || name == nullptr) {
        name = "CUDA_ERROR";
    }
    return {NativeCode::Layer::cuda, status, name};
}

void check_cuda(CuStatus status, const char* call) {
    if (status == kCudaSuccess) {
        return;
    }
    if (status == kCudaOutOfMemory) {
        throw Error(ErrorCode::out_of_memory, std::string(call) + " found no memory; free some or ask for less",
                    native_cuda(status));
    }
    throw Error(ErrorCode::cuda_error, std::string(call) + " failed", native_cuda(status));
}

CurrentContext::CurrentContext(CuContext context) {
    if (context != nullptr) {
        check_cuda(cuda_if_loaded()->context_push(context), "cuCtxPushCurrent");
        pushed_ = true;
    }
}

CurrentContext::~CurrentContext() {
    if (pushed_) {
        CuContext ours = nullptr;
        cuda_if_loaded()->context_pop(&ours);
    }
}

RelaxedCapture::RelaxedCapture(const CudaApi& api) noexcept : api_(api) {
    api_.exchange_capture_mode(&mode_);
}

RelaxedCapture::~RelaxedCapture() {
    api_.exchange_capture_mode(&mode_);
}

}  // namespace waybill
