// --probe: the real thing, tried in child processes, so that a crash or a hang of a library becomes a finding.
#pragma once

#include <filesystem>

#include "waybill/check.hpp"
#include "waybill/settings.hpp"

namespace waybill {

// Opens cuFile's driver, registers the file and reads a little of it by each engine, each in a child process with a time limit, and
// puts what came of it beside what the report foretells (probe/cases). The reads are done by `program`, which is Waybill's. The file
// must be one that can be read; a folder is not probed. `layers` are those of the report. Throws Error bad_setting.
void probe_paths(CheckReport& report, const SettingLayers& layers, const std::filesystem::path& program);

}  // namespace waybill
