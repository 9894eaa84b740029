// The block device under a file system, and the stack that it stands on.
#pragma once

#include "base/root.hpp"
#include "waybill/facts.hpp"

namespace waybill {

// By /sys/dev/block/MAJOR:MINOR, down through partitions, device mapper and md members. Major 0 is an anonymous device.
[[nodiscard]] Fact<BlockFacts> block_of_device(const MachineRoot& root, DeviceNumber device,
                                               const std::string& mount_source = {});

}  // namespace waybill
