// The one place that reads the names of GPUs and of the host, however they come in: options, Python's arguments, variables.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "waybill/facts.hpp"

namespace waybill {

// What a name says, before anything is asked. At most one of `number`, `uuid` and `pci_address` is there.
struct DeviceName {
    std::string text;         // as it was written
    int number = -1;          // CUDA's ordinal
    std::string uuid;         // GPU-... or MIG-..., in lower case but for those letters; its beginning is enough
    std::string pci_address;  // 0000:01:00.0

    [[nodiscard]] bool is_host() const noexcept { return number < 0 && uuid.empty() && pci_address.empty(); }
};

// host, cpu; gpu, cuda (GPU 0), gpu:1, cuda:1, 1; GPU-<uuid> or a PCI address, with gpu: before it or not.
// Throws Error invalid_argument that names the text.
[[nodiscard]] DeviceName parse_device_name(std::string_view text);

// The ordinal among `gpus`; a number is taken as it is, -1 is the host. Throws Error no_gpu, and invalid_argument for the
// beginning of more than one UUID.
[[nodiscard]] int device_among(const std::vector<GpuFacts>& gpus, const DeviceName& name);

}  // namespace waybill
