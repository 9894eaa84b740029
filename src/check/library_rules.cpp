#include "check/library_rules.hpp"

#include <charconv>

#include <fmt/format.h>

#include "settings/cufile_keys.hpp"

namespace waybill {
namespace {

// The oldest driver branch for the CUDA release that a libcufile came with. Releases: the labels of libcufile in NVIDIA's conda
// channel (1.5.0 is of CUDA 12.0.0, 1.15.0 of 13.0.0). Branches: CUDA's release notes, minor version compatibility (11: 450,
// 12: 525, 13: 580). A note, because CUDA's forward compatibility package may stand in, and no refusal was seen.
int least_driver(int cufile_version) {
    return cufile_version >= 1150 ? 580 : cufile_version >= 1050 ? 525 : 450;
}

}  // namespace

bool driver_too_old(const CheckSubject& subject, Finding& finding) {
    const MachineFacts& machine = subject.machine;
    if (!machine.cufile.version.known() || !machine.nvidia_driver.known()) {
        return false;
    }
    const std::string& driver = machine.nvidia_driver.value;
    int branch = 0;
    const auto [end, problem] = std::from_chars(driver.data(), driver.data() + driver.size(), branch);
    const int version = machine.cufile.version.value;
    const int least = least_driver(version);
    if (problem != std::errc() || branch >= least) {
        return false;
    }
    finding.seen = fmt::format("libcufile {} belongs to a CUDA release that wants driver {} or newer, and the driver is {}: cuFile likely does not open",
                               cufile_version_text(version), least, driver);
    finding.source = fmt::format("{}, {}", machine.cufile.version.source, machine.nvidia_driver.source);
    finding.fix = fmt::format("update the driver to branch {} or newer, install CUDA's forward compatibility package, or use the libcufile of an older CUDA release",
                              least);
    finding.not_needed = "staged reads are not concerned while CUDA itself works";
    return true;
}

}  // namespace waybill
