// A PCI device's place, link, IOMMU group and the ACS of the bridges above it, from sysfs.
//
// Not by libpci: its error callback may not return, so a saved machine that lacks a file would end the process, and one
// capability word is all that is wanted.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/root.hpp"
#include "waybill/facts.hpp"

namespace waybill {

[[nodiscard]] Fact<PciFacts> read_pci(const MachineRoot& root, const std::string& address);

[[nodiscard]] PciDistance distance_between(const PciFacts& one, const PciFacts& other);

// Whether a bridge sends peer-to-peer traffic up to the root complex: what the ACS capability in its configuration space
// says (PCI Express Base Specification, 7.7.8: P2P request or completion redirect). known(false) where it has none.
[[nodiscard]] Fact<bool> acs_redirects(std::string_view configuration_space, const std::string& source);

// The GPUs of NVIDIA that the kernel's driver, or else the bus, lists.
[[nodiscard]] std::vector<GpuFacts> read_gpus(const MachineRoot& root);

[[nodiscard]] Fact<bool> read_iommu(const MachineRoot& root);

}  // namespace waybill
