#include "facts/file.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <mutex>

#include "base/clock.hpp"
#include "base/forks.hpp"
#include "facts/block.hpp"
#include "facts/direct_io.hpp"
#include "facts/mount.hpp"
#include "facts/udev.hpp"

namespace waybill {
namespace {

constexpr std::uint64_t kKeepNs = 5'000'000'000;

// What files of one mount share.
struct MountKey {
    dev_t device = 0;
    std::uint64_t mount_id = 0;
    auto operator<=>(const MountKey&) const = default;
};

class KnownMounts {
public:
    // Fills in the facts kept for `key`; false where there are none, or no longer.
    bool find(const MountKey& key, FileFacts& facts) {
        const std::lock_guard lock(mutex_);
        forget_if_changed();
        const auto found = facts_.find(key);
        if (found == facts_.end()) {
            return false;
        }
        facts = found->second;
        return true;
    }
    void keep(const MountKey& key, const FileFacts& facts) {
        const std::lock_guard lock(mutex_);
        facts_.insert_or_assign(key, facts);
    }

private:
    void forget_if_changed() {
        pollfd watch{table_.get(), POLLPRI, 0};
        const bool changed = ::poll(&watch, 1, 0) > 0;
        if (changed || now_ns() - since_ns_ > kKeepNs) {
            facts_.clear();
            since_ns_ = now_ns();
        }
    }

    std::mutex mutex_;
    Fd table_{::open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)};
    std::uint64_t since_ns_ = now_ns();
    std::map<MountKey, FileFacts> facts_;
};
ForkLocal<KnownMounts> known_mounts;

FileFacts gather_live_mount(int fd, DeviceNumber device, const MachineRoot& root) {
    FileFacts facts;
    facts.device = device;
    facts.mount = mount_of_descriptor(fd, root);
    facts.block = block_of_device(root, device, facts.mount.value.source);
    return facts;
}

FileFacts gather_live(int fd, const MachineRoot& root) {
    struct statx state {};
    constexpr unsigned kMountId = 0x1000;  // STATX_MNT_ID
    ::statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | kMountId, &state);
    const DeviceNumber device{state.stx_dev_major, state.stx_dev_minor};
    const MountKey key{makedev(device.major, device.minor), state.stx_mnt_id};
    FileFacts facts;
    if (!known_mounts.get().find(key, facts)) {
        facts = gather_live_mount(fd, device, root);
        known_mounts.get().keep(key, facts);
    }
    ask_direct_io(fd, facts);  // of each file by itself: a folder answers otherwise, and so may an encrypted file
    facts.size_bytes = state.stx_size;
    return facts;
}

// Follows the symbolic links that the saved machine holds.
std::string resolve_saved(const MachineRoot& root, const std::string& path) {
    constexpr int kMostLinks = 40;  // as the kernel's limit
    std::filesystem::path left = std::filesystem::path("/" + path).lexically_normal();
    for (int links = 0; links < kMostLinks;) {
        std::filesystem::path done = "/";
        bool followed = false;
        for (auto part = ++left.begin(); part != left.end(); ++part) {
            const Fact<std::string> link = root.link((done / *part).string());
            if (!link.known()) {
                done /= *part;
                continue;
            }
            std::filesystem::path rest;
            for (auto other = std::next(part); other != left.end(); ++other) {
                rest /= *other;
            }
            left = (done / link.value / rest).lexically_normal();
            followed = true;
            ++links;
            break;
        }
        if (!followed) {
            return left.string();
        }
    }
    return left.string();
}

FileFacts gather_saved(const std::string& path, const MachineRoot& root) {
    FileFacts facts;
    facts.resolved = resolve_saved(root, path);
    const Fact<std::vector<MountFacts>> mounts = read_mounts(root);
    facts.mount = mounts.known() ? mount_of_path(mounts.value, facts.resolved)
                                 : Fact<MountFacts>{mounts.state, {}, mounts.source, mounts.why};
    facts.device = facts.mount.value.device;
    facts.direct_open = unknown_fact<bool>("open with O_DIRECT", "only the machine itself can try it");
    facts.block = facts.mount.known() ? block_of_device(root, facts.device, facts.mount.value.source)
                                      : unknown_fact<BlockFacts>("/sys/dev/block", "the mount is unknown");
    return facts;
}

}  // namespace

FileFacts gather_file(int fd, const std::string& path, const MachineRoot& root) {
    FileFacts facts = root.is_live() ? gather_live(fd, root) : gather_saved(path, root);
    facts.path = path;
    const std::string& type = facts.mount.value.file_system;
    facts.memory_backed = type == "tmpfs" || type == "ramfs";
    const UdevRecord udev = read_udev_record(root, facts.device);
    facts.udev_record = udev.record;
    facts.udev_usage = udev.usage;
    return facts;
}

}  // namespace waybill
