// Addresses of PCI devices, as lspci, nvidia-smi and CUDA write them.
#pragma once

#include <string>
#include <string_view>

namespace waybill {

// 0000:01:00.0
[[nodiscard]] bool is_pci_address(std::string_view text) noexcept;

// Any of 0000:01:00.0, 01:00.0, 00000000:01:00.0, in any case -> 0000:01:00.0; empty when it is no address.
[[nodiscard]] std::string plain_pci_address(std::string_view text);

}  // namespace waybill
