// cuFile's driver as the settings of a program say it is to be opened.
#pragma once

#include "gpu/cufile.hpp"
#include "waybill/settings.hpp"

namespace waybill {

// `suspicious`: a child process tries the driver first.
[[nodiscard]] CufileOptions cufile_options(const Settings& settings, bool suspicious);

// Opened on first need, as cufile_driver() does, in a child process first where the machine's facts give a reason. Throws as it.
[[nodiscard]] const CufileDriver& open_cufile(const SettingLayers& layers);

}  // namespace waybill
