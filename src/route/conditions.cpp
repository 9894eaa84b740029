#include "route/conditions.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace waybill {
namespace {

constexpr NeededFor kAll{true, true, true};
constexpr NeededFor kDirect{false, true, true};
constexpr NeededFor kNvidiaFs{false, true, false};
constexpr NeededFor kP2pdma{false, false, true};
constexpr NeededFor kCufile{true, false, false};

Answer yes() { return {}; }
Answer no(std::string text) { return {Holds::no, std::move(text)}; }

// A fact that must be there and true.
template <class T>
Answer must_be(const Fact<T>& fact, const std::string& missing) {
    if (fact.known()) {
        return yes();
    }
    if (fact.absent()) {
        return no(fmt::format("{} ({})", missing, fact.source));
    }
    return {Holds::unknown, fmt::format("{} may be missing: {} could not be read ({})", missing, fact.source, fact.why)};
}

const std::string& file_system(const FileFacts& file) { return file.mount.value.file_system; }

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

// File systems of the network: they have no block device here, and no udev record.
bool is_network(const std::string& type) {
    return is_one_of(type, {"nfs", "nfs4", "lustre", "wekafs", "gpfs", "beegfs", "beegfs_nodev", "scatefs", "panfs", "virtiofs"});
}

Answer cufile_library(const FileFacts& /*file*/, const MachineFacts& machine) {
    return must_be(machine.cufile.library, "libcufile is not installed");
}

Answer json_valid(const FileFacts& /*file*/, const MachineFacts& machine) {
    const CufileConfig& config = machine.cufile.config;
    return config.valid ? yes() : no(fmt::format("{} is not understood: {}", config.file, config.problem));
}

Answer not_forced(const FileFacts& /*file*/, const MachineFacts& machine) {
    return machine.cufile.config.force_compat_mode
               ? no("force_compat_mode is set in cufile.json or CUFILE_FORCE_COMPAT_MODE, so cuFile always stages")
               : yes();
}

Answer nvidia_fs_loaded(const FileFacts& /*file*/, const MachineFacts& machine) {
    return must_be(machine.nvidia_fs.loaded, "the kernel module nvidia-fs is not loaded");
}

Answer nvidia_fs_nodes(const FileFacts& /*file*/, const MachineFacts& machine) {
    return must_be(machine.nvidia_fs.device_nodes, "nvidia-fs is loaded, but its device nodes are not here");
}

// Versions with known faults: 2.25.6 fails every transfer with EFAULT (NVIDIA/gds-nvidia-fs 60); 2.26.6 with driver
// 580.65.06 ends in a kernel BUG (issue 66 there).
Answer nvidia_fs_good(const FileFacts& /*file*/, const MachineFacts& machine) {
    const Fact<std::string>& version = machine.nvidia_fs.version;
    if (version.is("2.25.6")) {
        return no("nvidia-fs 2.25.6 fails every transfer with EFAULT; 2.24.3 and 2.25.7 do not");
    }
    if (version.is("2.26.6") && machine.nvidia_driver.is("580.65.06")) {
        return no("nvidia-fs 2.26.6 with driver 580.65.06 ends in a kernel BUG; rebuild or update nvidia-fs");
    }
    return yes();
}

Answer nvme_registered(const FileFacts& file, const MachineFacts& machine) {
    const BlockFacts::Kind kind = file.block.value.kind;
    if (!file.block.known() || (kind != BlockFacts::Kind::nvme && kind != BlockFacts::Kind::nvme_of)) {
        return yes();
    }
    const auto& drivers = machine.nvidia_fs.registered;
    if (!drivers.known()) {
        return {Holds::unknown, fmt::format("which drivers registered with nvidia-fs is not known ({})", drivers.source)};
    }
    const bool found = std::any_of(drivers.value.begin(), drivers.value.end(),
                                   [](const std::string& name) { return name.starts_with("nvme"); });
    return found ? yes()
                 : no("the loaded nvme driver is not registered with nvidia-fs (/proc/driver/nvidia-fs/modules): it is likely "
                      "the distribution's own, without NVIDIA's hooks");
}

Answer p2pdma_enabled(const FileFacts& /*file*/, const MachineFacts& machine) {
    const CufileConfig& config = machine.cufile.config;
    return config.use_pci_p2pdma && config.block_p2pdma
               ? yes()
               : no("P2PDMA is not switched on in cufile.json (properties.use_pci_p2pdma and the block or file system switch)");
}

Answer p2pdma_kernel(const FileFacts& /*file*/, const MachineFacts& machine) {
    return must_be(machine.p2pdma.kernel, "the kernel is built without PCI P2PDMA");
}

Answer p2pdma_driver(const FileFacts& /*file*/, const MachineFacts& machine) {
    return must_be(machine.p2pdma.driver_static_bar, "the NVIDIA driver does not map the GPU's memory (RMForceStaticBar1=1)");
}

Answer p2pdma_multipath(const FileFacts& /*file*/, const MachineFacts& machine) {
    return machine.p2pdma.nvme_multipath.is(true) ? no("nvme_core's multipath is on, which hides the drive from P2PDMA") : yes();
}

Answer p2pdma_raid(const FileFacts& file, const MachineFacts& /*machine*/) {
    const BlockFacts::Kind kind = file.block.value.kind;
    return kind == BlockFacts::Kind::md || kind == BlockFacts::Kind::device_mapper
               ? no(fmt::format("the file lies on {}, a RAID or mapped device", file.block.value.name))
               : yes();
}

Answer not_overlay(const FileFacts& file, const MachineFacts& /*machine*/) {
    return file_system(file) == "overlay" ? no(fmt::format("the file lies in an overlay at {}: use a mounted volume",
                                                           file.mount.value.mount_point))
                                          : yes();
}

Answer file_system_direct(const FileFacts& file, const MachineFacts& /*machine*/) {
    if (!file.mount.known()) {
        return {Holds::unknown, fmt::format("the file system is not known ({}: {})", file.mount.source, file.mount.why)};
    }
    const std::string& type = file_system(file);
    return type == "ext4" || type == "xfs" || is_network(type)
               ? yes()
               : no(fmt::format("no direct path exists for the file system {} (ext4, xfs and some of the network have one)", type));
}

Answer real_device(const FileFacts& file, const MachineFacts& /*machine*/) {
    return file.block.known() && file.block.value.kind == BlockFacts::Kind::anonymous && !is_network(file_system(file))
               ? no(fmt::format("the file system {} has no block device of its own", file_system(file)))
               : yes();
}

Answer data_ordered(const FileFacts& file, const MachineFacts& /*machine*/) {
    if (file_system(file) != "ext4") {
        return yes();
    }
    for (const char* mode : {"data=journal", "data=writeback"}) {
        if (file.mount.value.options.find(mode) != std::string::npos) {
            return no(fmt::format("ext4 is mounted with {}; data=ordered is wanted", mode));
        }
    }
    return yes();
}

Answer block_device(const FileFacts& file, const MachineFacts& /*machine*/) {
    const BlockFacts::Kind kind = file.block.value.kind;
    const bool served = kind != BlockFacts::Kind::virtio && kind != BlockFacts::Kind::loop && kind != BlockFacts::Kind::other;
    return !file.block.known() || served ? yes()
                                         : no(fmt::format("no direct path exists for the block device {}", file.block.value.name));
}

Answer direct_open(const FileFacts& file, const MachineFacts& /*machine*/) {
    return must_be(file.direct_open, "the file cannot be opened with O_DIRECT");
}

// A file system in memory or of the network has no disk that udev would know.
bool has_disk(const FileFacts& file) { return !file.memory_backed && !is_network(file_system(file)) && file.device.major != 0; }

Answer udev_database(const FileFacts& file, const MachineFacts& machine) {
    return has_disk(file) ? must_be(machine.udev_database, "there is no udev database, in which cuFile looks the disk up")
                          : yes();
}

Answer udev_record(const FileFacts& file, const MachineFacts& /*machine*/) {
    return has_disk(file) ? must_be(file.udev_record, "the udev database has no record of the file's disk") : yes();
}

Answer udev_usage(const FileFacts& file, const MachineFacts& /*machine*/) {
    return has_disk(file) ? must_be(file.udev_usage, "the udev record of the file's disk lacks ID_FS_USAGE") : yes();
}

Answer compat_allowed(const FileFacts& file, const MachineFacts& machine) {
    const CufileConfig& config = machine.cufile.config;
    // Without a file the library runs in compatibility mode all the same (seen with 1.20).
    if (config.file.empty() || config.allow_compat_mode || find_direct_path(file, machine).path) {
        return yes();
    }
    return no(fmt::format("allow_compat_mode is false in {}, and no direct path exists", config.file));
}

// Machine before file: what is missing for every file comes first.
constexpr std::array kConditions{
    Condition{"cufile-missing", kAll, false, true, &cufile_library},
    Condition{"cufile-json-invalid", kAll, true, true, &json_valid},
    Condition{"compat-forced", kDirect, false, true, &not_forced},
    Condition{"nvidia-fs-not-loaded", kNvidiaFs, false, true, &nvidia_fs_loaded},
    Condition{"nvidia-fs-nodes-missing", kNvidiaFs, false, true, &nvidia_fs_nodes},
    Condition{"nvidia-fs-known-bad", kNvidiaFs, false, true, &nvidia_fs_good},
    Condition{"p2pdma-disabled", kP2pdma, false, true, &p2pdma_enabled},
    Condition{"p2pdma-kernel", kP2pdma, false, false, &p2pdma_kernel},
    Condition{"p2pdma-driver", kP2pdma, false, true, &p2pdma_driver},
    Condition{"p2pdma-multipath", kP2pdma, false, false, &p2pdma_multipath},
    Condition{"p2pdma-raid", kP2pdma, false, false, &p2pdma_raid},
    Condition{"overlay", kDirect, false, true, &not_overlay},
    Condition{"filesystem-anonymous-device", kDirect, false, true, &real_device},
    Condition{"filesystem-unsupported", kDirect, false, true, &file_system_direct},
    Condition{"mount-data-mode", kDirect, false, true, &data_ordered},
    Condition{"block-device-unsupported", kDirect, false, true, &block_device},
    Condition{"nvme-not-registered", kNvidiaFs, false, false, &nvme_registered},
    Condition{"direct-open-refused", kDirect, false, false, &direct_open},
    Condition{"udev-missing", kAll, true, false, &udev_database},
    Condition{"udev-record-missing", kAll, true, false, &udev_record},
    Condition{"udev-usage-missing", kAll, true, false, &udev_usage},
    Condition{"compat-disallowed", kCufile, true, true, &compat_allowed},
};

bool concerns(const Condition& condition, NeededFor wanted) {
    return (condition.needed.cufile && wanted.cufile) || (condition.needed.nvidia_fs && wanted.nvidia_fs) ||
           (condition.needed.p2pdma && wanted.p2pdma);
}

}  // namespace

std::span<const Condition> conditions() {
    return kConditions;
}

std::optional<FailedCondition> first_failing(NeededFor wanted, const FileFacts& file, const MachineFacts& machine) {
    for (const Condition& condition : kConditions) {
        if (!concerns(condition, wanted)) {
            continue;
        }
        Answer answer = condition.ask(file, machine);
        if (answer.holds == Holds::no || (answer.holds == Holds::unknown && condition.unknown_fails)) {
            return FailedCondition{&condition, {std::string(condition.id), std::move(answer.text)}};
        }
    }
    return std::nullopt;
}

DirectPath find_direct_path(const FileFacts& file, const MachineFacts& machine) {
    const auto by_nvidia_fs = first_failing(kNvidiaFs, file, machine);
    if (!by_nvidia_fs) {
        return {Path::nvidia_fs, std::nullopt};
    }
    const auto by_p2pdma = first_failing(kP2pdma, file, machine);
    if (!by_p2pdma) {
        return {Path::p2pdma, std::nullopt};
    }
    // Where somebody switched P2PDMA on, what it lacks is the answer; else what nvidia-fs lacks.
    const bool p2pdma_wanted = machine.cufile.config.use_pci_p2pdma && by_p2pdma->reason.id != "p2pdma-disabled";
    return {std::nullopt, p2pdma_wanted ? by_p2pdma->reason : by_nvidia_fs->reason};
}

}  // namespace waybill
