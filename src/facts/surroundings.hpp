// What `check` looks at besides the facts that routes are made of: the bus, the kernel's limits, what stands around it.
#pragma once

#include "base/environment.hpp"
#include "base/root.hpp"
#include "facts/saved_facts.hpp"
#include "waybill/facts.hpp"

namespace waybill {

// Read-only, and without any GPU library. `device`: a number in the order of the GPUs' bus addresses, as CUDA numbers them under
// CUDA_DEVICE_ORDER=PCI_BUS_ID and CUDA_VISIBLE_DEVICES (order_uncertain where that may be another), a UUID or a PCI address.
// Throws Error invalid_argument for a device that is none of these, no_gpu for a UUID or an address that is not here.
[[nodiscard]] SurroundingFacts gather_surroundings(const MachineRoot& root, const Environment& environment, const SavedFacts& saved,
                                                   const FileFacts& file, const MachineFacts& machine, const std::string& device);

// The GPU that was asked for; `present` is absent where there is none of that number, unknown where only /dev shows one.
[[nodiscard]] GpuFacts gpu_of(const SurroundingFacts& surroundings, const MachineRoot& root, const MachineFacts& machine);
// The same without the rest of the surroundings.
[[nodiscard]] std::vector<GpuFacts> gpus_by_files(const MachineRoot& root, const Environment& environment);
[[nodiscard]] GpuFacts gpu_by_files(int device, const MachineRoot& root, const Environment& environment, const MachineFacts& machine);

}  // namespace waybill
