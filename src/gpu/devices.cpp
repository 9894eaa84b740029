#include "gpu/devices.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>

#include <fmt/format.h>

#include "base/device_name.hpp"
#include "base/forks.hpp"
#include "gpu/cuda.hpp"
#include "waybill/buffer.hpp"

namespace waybill {
namespace {

// GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx, as nvidia-smi writes it.
std::string uuid_text(const CuUuid& uuid) {
    std::string text = "GPU-";
    for (int k = 0; k < 16; ++k) {
        text += fmt::format("{:02x}", uuid.bytes[k]);
        if (k == 3 || k == 5 || k == 7 || k == 9) {
            text += '-';
        }
    }
    return text;
}

GpuDevice describe(int ordinal) {
    const CudaApi& api = cuda();
    CuDevice handle = 0;
    if (api.device_get(&handle, ordinal) != kCudaSuccess) {
        int count = 0;
        check_cuda(api.device_count(&count), "cuDeviceGetCount");
        throw Error(ErrorCode::no_gpu,
                    fmt::format("there is no GPU {}: this process sees {}, numbered from 0", ordinal, count));
    }
    GpuDevice device;
    device.facts.device = ordinal;
    device.facts.present = known_fact(true, "cuDeviceGet");
    device.facts.driver = known_fact(true, "cuDeviceGet");
    char text[256] = {};
    check_cuda(api.device_name(text, sizeof text, handle), "cuDeviceGetName");
    device.facts.name = text;
    CuUuid uuid{};
    check_cuda(api.device_uuid(&uuid, handle), "cuDeviceGetUuid");
    device.facts.uuid = uuid_text(uuid);
    device.uuid_bytes.assign(reinterpret_cast<const char*>(uuid.bytes), sizeof uuid.bytes);
    check_cuda(api.device_pci_bus_id(text, sizeof text, handle), "cuDeviceGetPCIBusId");
    device.facts.pci_address = text;
    int supported = 0;
    device.facts.gpu_direct_rdma = api.device_attribute(&supported, kDeviceGpuDirectRdma, handle) == kCudaSuccess
                                       ? known_fact(supported != 0, "cuDeviceGetAttribute")
                                       : unknown_fact<bool>("cuDeviceGetAttribute", "not answered");
    return device;
}

// A forked child gets its own: asking may take as long as CUDA's start, and a lock held meanwhile stays locked there.
struct Devices {
    std::mutex mutex;
    std::map<int, std::unique_ptr<GpuDevice>> by_ordinal;
};
ForkLocal<Devices> the_devices;

}  // namespace

const GpuDevice& gpu_device(int ordinal) {
    Devices& devices = the_devices.get();
    const std::lock_guard lock(devices.mutex);
    auto& device = devices.by_ordinal[ordinal];
    if (!device) {
        device = std::make_unique<GpuDevice>(describe(ordinal));
    }
    return *device;
}

const GpuDevice* gpu_if_known(int ordinal) noexcept {
    Devices& devices = the_devices.get();
    const std::lock_guard lock(devices.mutex);
    const auto found = devices.by_ordinal.find(ordinal);
    return found == devices.by_ordinal.end() ? nullptr : found->second.get();
}

bool is_any_gpu_known() noexcept {
    Devices& devices = the_devices.get();
    const std::lock_guard lock(devices.mutex);
    return std::any_of(devices.by_ordinal.begin(), devices.by_ordinal.end(), [](const auto& entry) { return entry.second != nullptr; });
}

int find_device(const std::string& text) {
    const DeviceName name = parse_device_name(text);
    if (name.number >= 0 || name.is_host()) {
        return name.number;
    }
    const std::vector<GpuFacts> gpus = list_gpus();
    if (gpus.empty()) {
        (void)gpu_device(0);  // throws, and says why there is none
    }
    return device_among(gpus, name);
}

std::vector<GpuFacts> list_gpus() {
    std::vector<GpuFacts> gpus;
    try {
        int count = 0;
        check_cuda(cuda().device_count(&count), "cuDeviceGetCount");
        for (int ordinal = 0; ordinal < count; ++ordinal) {
            gpus.push_back(gpu_device(ordinal).facts);
        }
    } catch (const Error& error) {
        if (error.code() != ErrorCode::no_gpu) {
            throw;
        }
    }
    return gpus;
}

}  // namespace waybill
