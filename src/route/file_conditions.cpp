#include "route/file_conditions.hpp"

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "base/text.hpp"
#include "route/answers.hpp"
#include "settings/cufile_keys.hpp"

namespace waybill {
namespace {

using Kind = BlockLayer::Kind;

const std::string& file_system(const FileFacts& file) { return file.mount.value.file_system; }

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

// File systems of the network: they have no block device here, and no udev record.
bool is_network(const std::string& type) {
    return is_one_of(type, {"nfs", "nfs4", "lustre", "wekafs", "gpfs", "beegfs", "beegfs_nodev", "scatefs", "panfs", "virtiofs"});
}

// Does any device under the file, members of arrays too, have one of these kinds?
bool stands_on(const FileFacts& file, std::initializer_list<Kind> kinds) {
    const auto wanted = [&](Kind kind) { return std::find(kinds.begin(), kinds.end(), kind) != kinds.end(); };
    const BlockFacts& block = file.block.value;
    return file.block.known() && (wanted(block.kind) || std::any_of(block.stack.begin(), block.stack.end(),
                                                                    [&](const BlockLayer& layer) { return wanted(layer.kind); }));
}

// The switches of cufile.json that are for this file: of its network file system, or of its kind of disk. Of an array the level is
// not known here: any of the three will do.
std::vector<std::string> p2pdma_switches(const FileFacts& file) {
    const std::string& type = file_system(file);
    if (is_network(type)) {
        if (type == "wekafs") {
            return {};
        }
        return {type == "nfs4" ? "fs.nfs" : type == "beegfs_nodev" ? "fs.beegfs" : "fs." + type};
    }
    if (stands_on(file, {Kind::md})) {
        return {"block.raid", "block.raid1", "block.raid10"};
    }
    if (stands_on(file, {Kind::nvme_of})) {
        return {"block.nvmeof"};
    }
    return stands_on(file, {Kind::nvme}) ? std::vector<std::string>{"block.nvme"} : std::vector<std::string>{};
}

// A file system in memory or of the network has no disk that udev would know.
bool has_disk(const FileFacts& file) {
    return !file.memory_backed && !is_network(file_system(file)) && file.device.major != 0;
}

// cuFile's compatibility mode takes some file systems from a version on (its release notes); older ones refuse (5008).
Answer served_from(int since, const std::string& what, const Subject& subject) {
    if (at_least(subject.machine, since)) {
        return yes();
    }
    const bool older = older_than(subject.machine, since);
    std::string text = fmt::format("{}, which cuFile takes from {} on, and {}", what, cufile_version_text(since),
                                   older ? "the one here is older" : "which one is here is not known");
    const std::string& source = subject.file.mount.source;
    return older ? no(std::move(text), source) : not_known(std::move(text), source);
}

}  // namespace

// From 1.16 on the general switch alone does nothing: the file's kind of device or file system has one too.
Answer p2pdma_enabled(const Subject& subject) {
    const CufileConfig& config = subject.machine.cufile.config;
    if (!config.use_pci_p2pdma) {
        const std::string origin = cufile_origin(config, "properties.use_pci_p2pdma");
        return no(fmt::format("P2PDMA is not switched on (properties.use_pci_p2pdma is false: {})", origin), origin);
    }
    if (!config.p2pdma_needs_switch) {
        return yes();
    }
    const std::vector<std::string> switches = p2pdma_switches(subject.file);
    const bool on = std::any_of(switches.begin(), switches.end(), [&](const std::string& name) {
        return std::find(config.p2pdma_switches.begin(), config.p2pdma_switches.end(), name) != config.p2pdma_switches.end();
    });
    if (on) {
        return yes();
    }
    return switches.empty() ? no(fmt::format("no switch for P2PDMA exists for the file system {} on the device {}", file_system(subject.file),
                                             subject.file.block.value.name))
                            : no(fmt::format("properties.use_pci_p2pdma is true, but {}.use_pci_p2pdma is not", join(switches, " or ")));
}

// NVIDIA says it of RAID (NVIDIA/gds-nvidia-fs 65 cites its guide); of LVM nobody does, so a mapped device passes.
Answer p2pdma_raid(const Subject& subject) {
    return stands_on(subject.file, {Kind::md})
               ? no(fmt::format("the file lies on {}, a RAID, through which P2PDMA likely does not reach", subject.file.block.value.name),
                    subject.file.block.source)
               : yes();
}

Answer not_overlay(const Subject& subject) {
    return file_system(subject.file) == "overlay"
               ? no(fmt::format("the file lies in a container's overlay, mounted at {}", subject.file.mount.value.mount_point),
                    subject.file.mount.source)
               : yes();
}

Answer overlay_served(const Subject& subject) {
    constexpr int kServedFrom = 1160;
    return file_system(subject.file) != "overlay"
               ? yes()
               : served_from(kServedFrom,
                             fmt::format("the file lies in a container's overlay, mounted at {}", subject.file.mount.value.mount_point),
                             subject);
}

Answer file_system_direct(const Subject& subject) {
    const FileFacts& file = subject.file;
    if (!file.mount.known()) {
        return not_known(fmt::format("the file system is not known ({}: {})", file.mount.source, file.mount.why), file.mount.source);
    }
    const std::string& type = file_system(file);
    return type == "ext4" || type == "xfs" || is_network(type)
               ? yes()
               : no(fmt::format("no direct path exists for the file system {}", type), file.mount.source);
}

// In memory and squashfs from 1.16 on, zfs and btrfs from 1.17 on.
Answer file_system_served(const Subject& subject) {
    const std::string& type = file_system(subject.file);
    const int since = is_one_of(type, {"tmpfs", "ramfs", "squashfs"}) ? 1160 : is_one_of(type, {"zfs", "btrfs"}) ? 1170 : 0;
    return since == 0 ? yes() : served_from(since, fmt::format("the file system is {}", type), subject);
}

Answer real_device(const Subject& subject) {
    const FileFacts& file = subject.file;
    return file.block.known() && file.block.value.kind == Kind::anonymous && !is_network(file_system(file))
               ? no(fmt::format("the file system {} has no block device of its own", file_system(file)), file.mount.source)
               : yes();
}

// nvidia-fs wants ext4 in ordered mode. The kernel hides that default; libcufile read the mount table literally when that was
// reported (CUDA 11.7 to 12.1: NVIDIA/gds-nvidia-fs 15, NVIDIA/DALI 3972).
Answer data_ordered(const Subject& subject) {
    constexpr int kReadsJournalModeFrom = 1070;
    if (file_system(subject.file) != "ext4" || !subject.machine.cufile.library.known()) {
        return yes();
    }
    const std::string& options = subject.file.mount.value.options;
    for (const char* mode : {"data=journal", "data=writeback"}) {
        if (options.find(mode) != std::string::npos) {
            return no(fmt::format("ext4 is mounted with {}; data=ordered is wanted", mode), subject.file.mount.source);
        }
    }
    if (options.find("data=ordered") != std::string::npos || at_least(subject.machine, kReadsJournalModeFrom)) {
        return yes();
    }
    std::string text = "ext4 is in ordered mode by default, which the mount table does not show, and an older libcufile wants to see "
                       "data=ordered there";
    const std::string& source = subject.file.mount.source;
    return older_than(subject.machine, kReadsJournalModeFrom) ? no(std::move(text), source) : not_known(std::move(text), source);
}

Answer block_device(const Subject& subject) {
    const BlockFacts& block = subject.file.block.value;
    const bool served = block.kind != Kind::virtio && block.kind != Kind::loop && block.kind != Kind::other;
    return !subject.file.block.known() || served ? yes() : no(fmt::format("no direct path exists for the block device {}", block.name), subject.file.block.source);
}

Answer nvme_registered(const Subject& subject) {
    if (!subject.machine.nvidia_fs.loaded.known() || !stands_on(subject.file, {Kind::nvme, Kind::nvme_of})) {
        return yes();
    }
    const auto& drivers = subject.machine.nvidia_fs.registered;
    if (!drivers.known()) {
        return not_known(fmt::format("which drivers registered with nvidia-fs is not known ({})", drivers.source), drivers.source);
    }
    const bool found = std::any_of(drivers.value.begin(), drivers.value.end(),
                                   [](const std::string& name) { return name.starts_with("nvme"); });
    return found ? yes() : no(fmt::format("the loaded nvme driver is not registered with nvidia-fs ({})", drivers.source), drivers.source);
}

Answer direct_open(const Subject& subject) {
    // Not tried (a folder, a saved machine, a file one may not open) is no reason to doubt it.
    const Fact<bool>& open = subject.file.direct_open;
    return open.absent() ? no(fmt::format("the file cannot be opened with O_DIRECT ({})", open.source), open.source) : yes();
}

Answer udev_database(const Subject& subject) {
    return has_disk(subject.file)
               ? must_be(subject.machine.udev_database, "there is no udev database, in which cuFile looks the disk up")
               : yes();
}

// Without the database there is no record: that is the first condition's to say.
Answer udev_record(const Subject& subject) {
    return has_disk(subject.file) && subject.machine.udev_database.known()
               ? must_be(subject.file.udev_record, "the udev database has no record of the file's disk")
               : yes();
}

Answer udev_usage(const Subject& subject) {
    return has_disk(subject.file) && subject.file.udev_record.known()
               ? must_be(subject.file.udev_usage, "the udev record of the file's disk lacks ID_FS_USAGE")
               : yes();
}

Answer compat_allowed(const Subject& subject) {
    const CufileConfig& config = subject.machine.cufile.config;
    if (config.allow_compat_mode || find_direct_path(subject.file, subject.machine, subject.gpu).path) {
        return yes();
    }
    const std::string origin = cufile_origin(config, "properties.allow_compat_mode");
    return no(fmt::format("allow_compat_mode is false ({}), and no direct path exists", origin), origin);
}

}  // namespace waybill
