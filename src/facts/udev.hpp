// The udev database's record of a block device, which cuFile asks for a file's device.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/root.hpp"
#include "waybill/facts.hpp"

namespace waybill {

struct UdevRecord {
    Fact<bool> record;        // /run/udev/data/bMAJOR:MINOR
    Fact<std::string> usage;  // its E:ID_FS_USAGE
};

// E:ID_FS_USAGE of a record's text; nullopt where it has none.
[[nodiscard]] std::optional<std::string> udev_usage(std::string_view text);

[[nodiscard]] UdevRecord read_udev_record(const MachineRoot& root, DeviceNumber device);

}  // namespace waybill
