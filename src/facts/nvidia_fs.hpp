// nvidia-fs, NVIDIA's kernel module for direct storage, as it shows itself in /proc, /sys and /dev.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/root.hpp"
#include "waybill/facts.hpp"

namespace waybill {

// Its statistics begin with "NVFS Driver(version: 2.27.3)"; empty where they don't.
[[nodiscard]] std::string nvidia_fs_version_in_stats(std::string_view text);

// The names in its list of registered drivers, a line "nvme: 3" for each.
[[nodiscard]] std::vector<std::string> nvidia_fs_modules(std::string_view text);

[[nodiscard]] NvidiaFsFacts read_nvidia_fs(const MachineRoot& root);

}  // namespace waybill
