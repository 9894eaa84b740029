#include "route/conditions.hpp"

#include <array>

#include "route/file_conditions.hpp"
#include "route/machine_conditions.hpp"

namespace waybill {
namespace {

constexpr NeededFor kAll{true, true, true};
constexpr NeededFor kDirect{false, true, true};
constexpr NeededFor kNvidiaFs{false, true, false};
constexpr NeededFor kP2pdma{false, false, true};
constexpr NeededFor kCufile{true, false, false};

// Machine before file: what is missing for every file comes first.
constexpr std::array kConditions{
    Condition{.id = "no-gpu", .needed = kAll, .unknown_fails = false, .ask = &gpu_present},
    Condition{.id = "gpu-driver-missing", .needed = kAll, .unknown_fails = false, .ask = &gpu_driver},
    Condition{.id = "wsl", .needed = kDirect, .ask = &not_wsl},
    Condition{.id = "gpu-class-unsupported", .needed = kDirect, .ask = &gpu_class},
    Condition{.id = "cufile-missing", .needed = kAll, .ask = &cufile_library},
    Condition{.id = "cufile-dependency-missing", .needed = kAll, .library_decides = true, .unknown_fails = false, .ask = &cufile_dependencies},
    Condition{.id = "cufile-json-invalid", .needed = kAll, .library_decides = true, .ask = &json_valid},
    Condition{.id = "cufile-json-bad-value", .needed = kAll, .library_decides = true, .ask = &json_values},
    Condition{.id = "kernel-modules-unreadable", .needed = kAll, .library_decides = true, .unknown_fails = false, .ask = &modules_readable},
    Condition{.id = "compat-forced", .needed = kDirect, .ask = &not_forced},
    Condition{.id = "nvidia-fs-not-loaded", .needed = kNvidiaFs, .ask = &nvidia_fs_loaded},
    Condition{.id = "nvidia-fs-nodes-missing", .needed = kNvidiaFs, .makes_driver_suspicious = true, .ask = &nvidia_fs_nodes},
    Condition{.id = "nvidia-fs-known-bad", .needed = kNvidiaFs, .makes_driver_suspicious = true, .ask = &nvidia_fs_good},
    Condition{.id = "p2pdma-disabled", .needed = kP2pdma, .ask = &p2pdma_enabled},
    Condition{.id = "p2pdma-kernel", .needed = kP2pdma, .unknown_fails = false, .ask = &p2pdma_kernel},
    Condition{.id = "p2pdma-driver", .needed = kP2pdma, .ask = &p2pdma_driver},
    Condition{.id = "p2pdma-multipath", .needed = kP2pdma, .unknown_fails = false, .ask = &p2pdma_multipath},
    Condition{.id = "p2pdma-raid", .needed = kP2pdma, .unknown_fails = false, .ask = &p2pdma_raid},
    Condition{.id = "overlay", .needed = kDirect, .ask = &not_overlay},
    Condition{.id = "filesystem-anonymous-device", .needed = kDirect, .ask = &real_device},
    Condition{.id = "filesystem-unsupported", .needed = kDirect, .ask = &file_system_direct},
    Condition{.id = "mount-data-mode", .needed = kDirect, .unknown_fails = false, .ask = &data_ordered},
    Condition{.id = "block-device-unsupported", .needed = kDirect, .ask = &block_device},
    Condition{.id = "nvme-not-registered", .needed = kNvidiaFs, .unknown_fails = false, .ask = &nvme_registered},
    Condition{.id = "direct-open-refused", .needed = kDirect, .unknown_fails = false, .ask = &direct_open},
    Condition{.id = "overlay", .needed = kCufile, .library_decides = true, .unknown_fails = false, .ask = &overlay_served},
    Condition{.id = "filesystem-unsupported", .needed = kCufile, .library_decides = true, .unknown_fails = false, .ask = &file_system_served},
    Condition{.id = "udev-missing", .needed = kAll, .library_decides = true, .unknown_fails = false, .ask = &udev_database},
    Condition{.id = "udev-record-missing", .needed = kAll, .library_decides = true, .unknown_fails = false, .ask = &udev_record},
    Condition{.id = "udev-usage-missing", .needed = kAll, .library_decides = true, .unknown_fails = false, .ask = &udev_usage},
    Condition{.id = "compat-disallowed", .needed = kCufile, .library_decides = true, .ask = &compat_allowed},
};

bool concerns(const Condition& condition, NeededFor wanted) {
    return (condition.needed.cufile && wanted.cufile) || (condition.needed.nvidia_fs && wanted.nvidia_fs) ||
           (condition.needed.p2pdma && wanted.p2pdma);
}

}  // namespace

std::span<const Condition> conditions() {
    return kConditions;
}

std::optional<FailedCondition> first_failing(NeededFor wanted, const FileFacts& file, const MachineFacts& machine,
                                             const GpuFacts* gpu) {
    for (const Condition& condition : kConditions) {
        if (!concerns(condition, wanted)) {
            continue;
        }
        Answer answer = condition.ask({file, machine, gpu});
        if (answer.holds == Holds::no || (answer.holds == Holds::unknown && condition.unknown_fails)) {
            return FailedCondition{&condition, {std::string(condition.id), std::move(answer.text)}};
        }
    }
    return std::nullopt;
}

DirectPath find_direct_path(const FileFacts& file, const MachineFacts& machine, const GpuFacts* gpu) {
    const auto by_nvidia_fs = first_failing(kNvidiaFs, file, machine, gpu);
    if (!by_nvidia_fs) {
        return {Path::nvidia_fs, std::nullopt};
    }
    const auto by_p2pdma = first_failing(kP2pdma, file, machine, gpu);
    if (!by_p2pdma) {
        return {Path::p2pdma, std::nullopt};
    }
    // Where somebody switched P2PDMA on, what it lacks is the answer; else what nvidia-fs lacks.
    const bool p2pdma_wanted = machine.cufile.config.use_pci_p2pdma && by_p2pdma->reason.id != "p2pdma-disabled";
    return {std::nullopt, p2pdma_wanted ? by_p2pdma->reason : by_nvidia_fs->reason};
}

}  // namespace waybill
