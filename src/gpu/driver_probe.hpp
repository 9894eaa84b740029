// Tries cuFileDriverOpen in a child process, so that a hang, an abort or a closed descriptor harms nobody.
//
// The child is the small program `waybill-probe`, started by posix_spawn (never a bare fork) and killed when its time is
// over. It is looked for beside this library or program, then in the installation's libexec folder. Thread-safe.
#pragma once

#include <cstdint>
#include <string>

namespace waybill {

struct DriverProbe {
    bool opened = false;
    std::string text;  // how it ended, to follow "it ": "did not return within 10 s"
};

[[nodiscard]] DriverProbe probe_driver(const std::string& library, std::uint64_t limit_ns);

}  // namespace waybill
