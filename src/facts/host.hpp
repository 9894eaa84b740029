// The kind of host: kernel, container, WSL.
#pragma once

#include "base/root.hpp"
#include "waybill/facts.hpp"

namespace waybill {

[[nodiscard]] Fact<std::string> read_kernel_release(const MachineRoot& root);
[[nodiscard]] Fact<std::string> find_container(const MachineRoot& root);
[[nodiscard]] bool is_wsl(const std::string& kernel_release);

}  // namespace waybill
