// The GPUs of this process, asked once and kept.
#pragma once

#include <string>

#include "waybill/facts.hpp"

namespace waybill {

struct GpuDevice {
    GpuFacts facts;
    std::string uuid_bytes;  // 16, as cuFile's counters name the GPU
};

// Initialises CUDA on first need. Throws Error no_gpu when there is no such device, cuda_error. Thread-safe.
[[nodiscard]] const GpuDevice& gpu_device(int ordinal);

// What gpu_device() answered before, else null. Never initialises anything. Thread-safe.
[[nodiscard]] const GpuDevice* gpu_if_known(int ordinal) noexcept;
// True once gpu_device() has answered for any: list_gpus() initialises nothing more then.
[[nodiscard]] bool is_any_gpu_known() noexcept;

}  // namespace waybill
