// Resolve: from what a call, a context, the environment and a file say to one value for each setting, with its origin.
#pragma once

#include "base/environment.hpp"
#include "settings/config_file.hpp"
#include "waybill/settings.hpp"

namespace waybill {

// Pure. Precedence: call, context, WAYBILL_ variable, KVIKIO_ variable, file, default.
// Throws Error bad_setting, naming the place, the value and what is accepted.
[[nodiscard]] Settings resolve(const SettingLayers& layers, const Environment& environment, const ConfigFile& file);

}  // namespace waybill
