#include "facts/mount.hpp"

#include <fcntl.h>
#include <libmount/libmount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <set>

#include "base/forks.hpp"
#include "base/library.hpp"

namespace waybill {
namespace {

// The calls of libmount that are used; declared by its own header, bound at run time.
struct Libmount {
    decltype(&mnt_new_table) new_table = nullptr;
    decltype(&mnt_unref_table) unref_table = nullptr;
    decltype(&mnt_table_parse_stream) parse_stream = nullptr;
    decltype(&mnt_table_set_parser_errcb) set_error_callback = nullptr;
    decltype(&mnt_new_iter) new_iter = nullptr;
    decltype(&mnt_free_iter) free_iter = nullptr;
    decltype(&mnt_table_next_fs) next = nullptr;
    decltype(&mnt_fs_get_id) id = nullptr;
    decltype(&mnt_fs_get_parent_id) parent_id = nullptr;
    decltype(&mnt_fs_get_fstype) type = nullptr;
    decltype(&mnt_fs_get_source) source = nullptr;
    decltype(&mnt_fs_get_target) target = nullptr;
    decltype(&mnt_fs_get_root) root = nullptr;
    decltype(&mnt_fs_get_vfs_options) vfs_options = nullptr;
    decltype(&mnt_fs_get_fs_options) fs_options = nullptr;
    decltype(&mnt_fs_get_devno) device = nullptr;
    std::string problem;

    Libmount() {
        const Library library = Library::load("libmount.so.1");
        problem = library.problem();
        const auto bind = [&](auto& slot, const char* name) {
            slot = reinterpret_cast<std::decay_t<decltype(slot)>>(library.symbol(name));
            if (slot == nullptr && problem.empty()) {
                problem = std::string("libmount has no ") + name;
            }
        };
        bind(new_table, "mnt_new_table");
        bind(unref_table, "mnt_unref_table");
        bind(parse_stream, "mnt_table_parse_stream");
        bind(set_error_callback, "mnt_table_set_parser_errcb");
        bind(new_iter, "mnt_new_iter");
        bind(free_iter, "mnt_free_iter");
        bind(next, "mnt_table_next_fs");
        bind(id, "mnt_fs_get_id");
        bind(parent_id, "mnt_fs_get_parent_id");
        bind(type, "mnt_fs_get_fstype");
        bind(source, "mnt_fs_get_source");
        bind(target, "mnt_fs_get_target");
        bind(root, "mnt_fs_get_root");
        bind(vfs_options, "mnt_fs_get_vfs_options");
        bind(fs_options, "mnt_fs_get_fs_options");
        bind(device, "mnt_fs_get_devno");
    }
};

const Libmount& libmount() {
    const ForkHold hold;
    static const auto& library = *new Libmount();
    return library;
}

std::string text_of(const char* text) { return text != nullptr ? text : ""; }

MountFacts facts_of(const Libmount& api, libmnt_fs* mount) {
    MountFacts facts;
    facts.id = api.id(mount);
    facts.parent_id = api.parent_id(mount);
    facts.file_system = text_of(api.type(mount));
    facts.source = text_of(api.source(mount));
    facts.mount_point = text_of(api.target(mount));
    facts.root = text_of(api.root(mount));
    const std::string of_file_system = text_of(api.fs_options(mount));
    facts.options = text_of(api.vfs_options(mount));
    facts.options += facts.options.empty() || of_file_system.empty() ? of_file_system : "," + of_file_system;
    const dev_t device = api.device(mount);
    facts.device = {major(device), minor(device)};
    return facts;
}

// Lines that cannot be understood are passed over: one odd mount must not hide the others.
int pass_over(libmnt_table* /*table*/, const char* /*file*/, int /*line*/) { return 1; }

}  // namespace

Fact<std::vector<MountFacts>> parse_mounts(const std::string& mountinfo, const std::string& source) {
    const Libmount& api = libmount();
    if (!api.problem.empty()) {
        return unknown_fact<std::vector<MountFacts>>(source, api.problem);
    }
    std::vector<MountFacts> mounts;
    if (mountinfo.empty()) {
        return known_fact(std::move(mounts), source);
    }
    const std::unique_ptr<FILE, int (*)(FILE*)> stream(::fmemopen(const_cast<char*>(mountinfo.data()), mountinfo.size(), "r"), &::fclose);
    const std::unique_ptr<libmnt_table, decltype(api.unref_table)> table(api.new_table(), api.unref_table);
    const std::unique_ptr<libmnt_iter, decltype(api.free_iter)> place(api.new_iter(MNT_ITER_FORWARD), api.free_iter);
    if (!stream || !table || !place) {
        return unknown_fact<std::vector<MountFacts>>(source, "no memory");
    }
    api.set_error_callback(table.get(), &pass_over);
    if (api.parse_stream(table.get(), stream.get(), "mountinfo") < 0) {
        return unknown_fact<std::vector<MountFacts>>(source, "not understood");
    }
    libmnt_fs* mount = nullptr;
    while (api.next(table.get(), place.get(), &mount) == 0) {
        mounts.push_back(facts_of(api, mount));
    }
    return known_fact(std::move(mounts), source);
}

Fact<std::vector<MountFacts>> read_mounts(const MachineRoot& root) {
    const Fact<std::string> text = root.read("/proc/self/mountinfo");
    if (!text.known()) {
        return {text.state, {}, text.source, text.why};
    }
    return parse_mounts(text.value, text.source);
}

Fact<MountFacts> mount_of_descriptor(int fd, const MachineRoot& root) {
    const std::string source = "statx, /proc/self/mountinfo";
    struct statx state {};
    constexpr unsigned kMountId = 0x1000;  // STATX_MNT_ID, Linux 5.8
    if (::statx(fd, "", AT_EMPTY_PATH, kMountId, &state) != 0 || (state.stx_mask & kMountId) == 0) {
        return unknown_fact<MountFacts>(source, "the kernel gives no mount id (Linux 5.8 does)");
    }
    const Fact<std::vector<MountFacts>> mounts = read_mounts(root);
    for (const MountFacts& mount : mounts.value) {
        if (mount.id == static_cast<std::int64_t>(state.stx_mnt_id)) {
            return known_fact(mount, source);
        }
    }
    return mounts.known() ? absent_fact<MountFacts>(source) : unknown_fact<MountFacts>(source, mounts.why);
}

namespace {

// Is `path` the place `mount_point`, or below it? At component boundaries.
bool lies_in(std::string_view path, std::string_view mount_point) noexcept {
    if (mount_point == "/") {
        return true;
    }
    return path.starts_with(mount_point) && (path.size() == mount_point.size() || path[mount_point.size()] == '/');
}

// The mount that all others stand on: at /, and not on one that is listed.
const MountFacts* lowest(const std::vector<MountFacts>& mounts, const std::set<std::int64_t>& ids) {
    for (const MountFacts& mount : mounts) {
        if (mount.mount_point == "/" && (mount.parent_id == mount.id || !ids.contains(mount.parent_id))) {
            return &mount;
        }
    }
    return nullptr;
}

}  // namespace

Fact<MountFacts> mount_of_path(const std::vector<MountFacts>& mounts, const std::string& path) {
    const std::string source = "/proc/self/mountinfo";
    std::set<std::int64_t> ids;
    for (const MountFacts& mount : mounts) {
        ids.insert(mount.id);
    }
    const MountFacts* const first = lowest(mounts, ids);
    if (first == nullptr) {
        return absent_fact<MountFacts>(source);
    }
    // As the kernel walks: from a mount to the first one on the way that stands on it, so that what is mounted over is not seen.
    const MountFacts* at = first;
    for (std::size_t steps = 0; steps < mounts.size(); ++steps) {
        const MountFacts* next = nullptr;
        for (const MountFacts& mount : mounts) {
            // A table that is cut short names parents that it does not list.
            const std::int64_t parent = ids.contains(mount.parent_id) && mount.parent_id != mount.id ? mount.parent_id : first->id;
            if (&mount != at && &mount != first && parent == at->id && lies_in(path, mount.mount_point) &&
                (next == nullptr || mount.mount_point.size() < next->mount_point.size())) {
                next = &mount;
            }
        }
        if (next == nullptr) {
            break;
        }
        at = next;
    }
    return known_fact(*at, source);
}

}  // namespace waybill
