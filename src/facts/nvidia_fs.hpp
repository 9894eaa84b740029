// nvidia-fs, NVIDIA's kernel module for direct storage, as it shows itself in /proc, /sys and /dev.
#pragma once

#include "base/root.hpp"
#include "waybill/facts.hpp"

namespace waybill {

[[nodiscard]] NvidiaFsFacts read_nvidia_fs(const MachineRoot& root);

}  // namespace waybill
