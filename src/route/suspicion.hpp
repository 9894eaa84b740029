// Whether cuFile's driver should be opened by a child process first. Pure.
#pragma once

#include "waybill/facts.hpp"

namespace waybill {

// Known hazards: without /proc/modules cuFileDriverOpen spins for ever (1.16 to 1.20, measured); with nvidia-fs loaded but
// without device nodes it fails and closes descriptor 0 (fastsafetensors pull 102); some versions of nvidia-fs are bad; on a section
// of cufile.json that is no object the library aborts (seen with 1.15 and 1.20).
[[nodiscard]] bool driver_is_suspicious(const MachineFacts& machine) noexcept;

}  // namespace waybill
