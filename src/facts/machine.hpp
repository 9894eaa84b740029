// All facts of a machine, gathered at one moment.
#pragma once

#include "base/environment.hpp"
#include "base/root.hpp"
#include "waybill/facts.hpp"
#include "waybill/settings.hpp"

namespace waybill {

[[nodiscard]] MachineFacts gather_machine(const MachineRoot& root, const Settings& settings, const Environment& environment);

}  // namespace waybill
