// What the kernel and its drivers need for PCI peer-to-peer DMA between a drive and a GPU.
#pragma once

#include "base/root.hpp"
#include "waybill/facts.hpp"

namespace waybill {

// `kernel_release` names the kernel's configuration file.
[[nodiscard]] P2pdmaFacts read_p2pdma(const MachineRoot& root, const std::string& kernel_release);

}  // namespace waybill
