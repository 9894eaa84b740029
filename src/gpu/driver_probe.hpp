// Tries cuFileDriverOpen, and cuFileHandleRegister after it, in a child process, so that a hang, an abort or a closed descriptor
// harms nobody.
//
// The child is the small program `waybill-probe` (base/child runs it). It is looked for beside this library or program, then in the
// installation's libexec folder. Thread-safe.
#pragma once

#include <cstdint>
#include <string>

namespace waybill {

struct DriverProbe {
    bool opened = false;
    std::string text;  // how it ended, to follow "it ": "did not return within 10 s"
    bool crashed = false;
    bool hung = false;
};

// What this process lacks for the moment (descriptors, memory, processes) is an Error, io_error.
[[nodiscard]] DriverProbe probe_driver(const std::string& library, std::uint64_t limit_ns);

// `opened` tells that the driver opened and took the file; `direct`: with the descriptor that a direct path wants.
[[nodiscard]] DriverProbe probe_registration(const std::string& library, const std::string& file, bool direct, std::uint64_t limit_ns);

}  // namespace waybill
