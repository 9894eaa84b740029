// --probe: the real thing, tried in child processes, so that a crash or a hang of a library becomes a result.
#pragma once

#include "waybill/check.hpp"
#include "waybill/settings.hpp"

namespace waybill {

// Reads a little of the file by each engine (this program itself, with a time limit), and puts what came of it beside what the
// report foretells. The file must be one that can be read; a folder is not probed. `settings` are those of the call.
void probe_paths(CheckReport& report, const SettingValues& settings);

}  // namespace waybill
