#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "fake.hpp"

namespace fake {
namespace {

struct Devices {
    std::mutex mutex;
    std::atomic<pid_t> initialised_by = 0;  // others ask while it starts
    std::vector<Device*> all;
    std::vector<Context*> contexts;
};
Devices& devices() {
    static Devices& all = *new Devices();
    return all;
}

thread_local std::vector<Context*> stack;

Context* make_context(int device) {
    auto* const context = new Context();
    context->device = device;
    context->id = next_id();
    context->legacy = new Stream();
    context->legacy->context = context;
    context->legacy->legacy = true;
    context->legacy->start();
    devices().contexts.push_back(context);
    return context;
}

}  // namespace

unsigned long long next_id() {
    static std::atomic<unsigned long long> last{0};
    return ++last;
}

Status enter(const char* call) {
    if (const Status status = fault_of(call)) {
        return status;
    }
    // In a child of a process that had initialised it, the driver says that it is not initialised.
    return devices().initialised_by == ::getpid() ? kSuccess : kNotInitialized;
}

Status enter_context(const char* call, Context*& context) {
    if (const Status status = enter(call)) {
        return status;
    }
    context = current_context();
    return context != nullptr ? kSuccess : kInvalidContext;
}

Device* device_of(int ordinal) {
    const std::lock_guard lock(devices().mutex);
    const bool known = ordinal >= 0 && static_cast<std::size_t>(ordinal) < devices().all.size();
    return known ? devices().all[static_cast<std::size_t>(ordinal)] : nullptr;
}

Context* current_context() { return stack.empty() ? nullptr : stack.back(); }

}  // namespace fake

using namespace fake;

FAKE_EXPORT Status cuInit(unsigned /*flags*/) {
    if (const Status status = fault_of("cuInit")) {
        return status;
    }
    Devices& all = devices();
    const std::lock_guard lock(all.mutex);
    if (all.initialised_by != 0) {
        return all.initialised_by == ::getpid() ? kSuccess : kNotInitialized;
    }
    ::usleep(static_cast<useconds_t>(1000 * number_of("FAKE_CUDA_INIT_DELAY_MS", 0)));
    const std::uint64_t count = number_of("FAKE_CUDA_DEVICES", 1);
    if (count == 0) {
        return kNoDevice;
    }
    for (std::uint64_t k = 0; k < count; ++k) {
        auto* const device = new Device();
        device->ordinal = static_cast<int>(k);
        all.all.push_back(device);
    }
    all.initialised_by = ::getpid();
    return kSuccess;
}

FAKE_EXPORT Status cuDriverGetVersion(int* version) {
    *version = static_cast<int>(number_of("FAKE_CUDA_VERSION", 13000));
    return kSuccess;
}

FAKE_EXPORT Status cuDeviceGetCount(int* count) {
    if (const Status status = enter("cuDeviceGetCount")) {
        return status;
    }
    const std::lock_guard lock(devices().mutex);
    *count = static_cast<int>(devices().all.size());
    return kSuccess;
}

FAKE_EXPORT Status cuDeviceGet(int* device, int ordinal) {
    if (const Status status = enter("cuDeviceGet")) {
        return status;
    }
    *device = ordinal;
    return device_of(ordinal) != nullptr ? kSuccess : kInvalidDevice;
}

FAKE_EXPORT Status cuDeviceGetName(char* name, int length, int device) {
    std::snprintf(name, static_cast<std::size_t>(length), "Waybill Test GPU %d", device);
    return kSuccess;
}

FAKE_EXPORT Status cuDeviceGetUuid_v2(unsigned char* uuid, int device) {
    std::memset(uuid, 0x57, 16);
    uuid[15] = static_cast<unsigned char>(device);
    return kSuccess;
}
FAKE_EXPORT Status cuDeviceGetUuid(unsigned char* uuid, int device) { return cuDeviceGetUuid_v2(uuid, device); }

FAKE_EXPORT Status cuDeviceGetAttribute(int* value, int attribute, int device) {
    switch (attribute) {
        case 1: *value = 1024; break;                   // MAX_THREADS_PER_BLOCK
        case 10: *value = 32; break;                    // WARP_SIZE
        case 16: *value = 132; break;                   // MULTIPROCESSOR_COUNT
        case 33: *value = device + 1; break;            // PCI_BUS_ID
        case 34: case 50: *value = 0; break;            // PCI_DEVICE_ID, PCI_DOMAIN_ID
        case 41: *value = 1; break;                     // UNIFIED_ADDRESSING
        case 75: *value = 9; break;                     // COMPUTE_CAPABILITY_MAJOR
        case 76: *value = 0; break;                     // COMPUTE_CAPABILITY_MINOR
        case 83: *value = 1; break;                     // MANAGED_MEMORY
        case 116: *value = 1; break;                    // GPU_DIRECT_RDMA_SUPPORTED
        default: *value = 0; break;
    }
    return kSuccess;
}

FAKE_EXPORT Status cuDeviceTotalMem_v2(std::size_t* bytes, int /*device*/) {
    *bytes = number_of("FAKE_CUDA_MEMORY", std::uint64_t{16} << 30);
    return kSuccess;
}

FAKE_EXPORT Status cuDeviceGetPCIBusId(char* address, int length, int device) {
    std::snprintf(address, static_cast<std::size_t>(length), "0000:%02x:00.0", device + 1);
    return kSuccess;
}

FAKE_EXPORT Status cuDeviceGetByPCIBusId(int* device, const char* address) {
    unsigned bus = 0;
    if (std::sscanf(address, "0000:%x:00.0", &bus) != 1 || device_of(static_cast<int>(bus) - 1) == nullptr) {
        return kInvalidDevice;
    }
    *device = static_cast<int>(bus) - 1;
    return kSuccess;
}

FAKE_EXPORT Status cuDevicePrimaryCtxRetain(void** context, int ordinal) {
    if (const Status status = enter("cuDevicePrimaryCtxRetain")) {
        return status;
    }
    Device* const device = device_of(ordinal);
    if (device == nullptr) {
        return kInvalidDevice;
    }
    const std::lock_guard lock(devices().mutex);
    if (device->primary == nullptr) {
        device->primary = make_context(ordinal);
    }
    ++device->retained;
    *context = device->primary;
    return kSuccess;
}

FAKE_EXPORT Status cuDevicePrimaryCtxRelease_v2(int ordinal) {
    Device* const device = device_of(ordinal);
    if (device != nullptr && device->retained > 0) {
        --device->retained;
    }
    return kSuccess;
}

FAKE_EXPORT Status cuDevicePrimaryCtxGetState(int ordinal, unsigned* flags, int* active) {
    Device* const device = device_of(ordinal);
    *flags = 0;
    *active = device != nullptr && device->primary != nullptr ? 1 : 0;
    return kSuccess;
}

FAKE_EXPORT Status cuCtxCreate_v2(void** context, unsigned /*flags*/, int ordinal) {
    if (const Status status = enter("cuCtxCreate_v2")) {
        return status;
    }
    const std::lock_guard lock(devices().mutex);
    Context* const made = make_context(ordinal);
    stack.push_back(made);
    *context = made;
    return kSuccess;
}

FAKE_EXPORT Status cuCtxDestroy_v2(void* context) {
    static_cast<Context*>(context)->alive = false;
    stack.erase(std::remove(stack.begin(), stack.end(), static_cast<Context*>(context)), stack.end());
    return kSuccess;
}

FAKE_EXPORT Status cuCtxGetCurrent(void** context) {
    *context = nullptr;
    if (const Status status = enter("cuCtxGetCurrent")) {
        return status;
    }
    *context = current_context();
    return kSuccess;
}

FAKE_EXPORT Status cuCtxSetCurrent(void* context) {
    if (const Status status = enter("cuCtxSetCurrent")) {
        return status;
    }
    if (!stack.empty()) {
        stack.pop_back();
    }
    if (context != nullptr) {
        stack.push_back(static_cast<Context*>(context));
    }
    return kSuccess;
}

FAKE_EXPORT Status cuCtxPushCurrent_v2(void* context) {
    if (const Status status = enter("cuCtxPushCurrent_v2")) {
        return status;
    }
    if (context == nullptr || !static_cast<Context*>(context)->alive) {
        return kInvalidContext;
    }
    stack.push_back(static_cast<Context*>(context));
    return kSuccess;
}

FAKE_EXPORT Status cuCtxPopCurrent_v2(void** context) {
    if (const Status status = enter("cuCtxPopCurrent_v2")) {
        return status;
    }
    if (stack.empty()) {
        return kInvalidContext;
    }
    if (context != nullptr) {
        *context = stack.back();
    }
    stack.pop_back();
    return kSuccess;
}

FAKE_EXPORT Status cuCtxGetDevice(int* device) {
    Context* context = nullptr;
    if (const Status status = enter_context("cuCtxGetDevice", context)) {
        return status;
    }
    *device = context->device;
    return kSuccess;
}

FAKE_EXPORT Status cuCtxGetId(void* context, unsigned long long* id) {
    const Context* const wanted = context != nullptr ? static_cast<Context*>(context) : current_context();
    if (wanted == nullptr) {
        return kInvalidContext;
    }
    *id = wanted->id;
    return kSuccess;
}

FAKE_EXPORT Status cuCtxSynchronize() {
    Context* context = nullptr;
    if (const Status status = enter_context("cuCtxSynchronize", context)) {
        return status;
    }
    std::vector<Stream*> streams;
    {
        const std::lock_guard order(context->mutex);
        streams = context->streams;
    }
    for (Stream* stream : streams) {
        wait_for_stream(*stream);
    }
    wait_for_stream(*context->legacy);
    return kSuccess;
}

FAKE_EXPORT Status cuCtxGetStreamPriorityRange(int* least, int* greatest) {
    *least = 0;
    *greatest = -5;
    return kSuccess;
}

FAKE_EXPORT Status cuGetErrorName(Status status, const char** name) {
    struct Row {
        Status status;
        const char* name;
    };
    static constexpr Row kRows[] = {
        {0, "CUDA_SUCCESS"}, {1, "CUDA_ERROR_INVALID_VALUE"}, {2, "CUDA_ERROR_OUT_OF_MEMORY"}, {3, "CUDA_ERROR_NOT_INITIALIZED"},
        {100, "CUDA_ERROR_NO_DEVICE"}, {101, "CUDA_ERROR_INVALID_DEVICE"}, {201, "CUDA_ERROR_INVALID_CONTEXT"},
        {400, "CUDA_ERROR_INVALID_HANDLE"}, {500, "CUDA_ERROR_NOT_FOUND"}, {600, "CUDA_ERROR_NOT_READY"},
        {700, "CUDA_ERROR_ILLEGAL_ADDRESS"}, {719, "CUDA_ERROR_LAUNCH_FAILED"}, {801, "CUDA_ERROR_NOT_SUPPORTED"},
        {900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"}, {906, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT"}, {999, "CUDA_ERROR_UNKNOWN"},
    };
    for (const Row& row : kRows) {
        if (row.status == status) {
            *name = row.name;
            return kSuccess;
        }
    }
    *name = nullptr;
    return kInvalidValue;
}
FAKE_EXPORT Status cuGetErrorString(Status status, const char** text) { return cuGetErrorName(status, text); }
