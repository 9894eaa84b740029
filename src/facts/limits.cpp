#include "facts/limits.hpp"

#include <sched.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <limits>
#include <memory>
#include <optional>

#include "base/text.hpp"
#include "facts/mount.hpp"

namespace waybill {
namespace {

std::optional<std::uint64_t> number_in(std::string_view text) {
    const std::string_view body = trim(text);
    std::uint64_t number = 0;
    const auto [end, problem] = std::from_chars(body.data(), body.data() + body.size(), number);
    return problem == std::errc() && end != body.data() ? std::optional(number) : std::nullopt;
}

std::optional<std::uint64_t> number_of_file(const MachineRoot& root, const std::string& path) {
    const Fact<std::string> text = root.read(path);
    return text.known() ? number_in(text.value) : std::nullopt;  // "max" is no number: no limit
}

// This process's folder of a cgroup hierarchy: version 2 has an empty controller list.
std::string cgroup_folder(const MachineRoot& root, std::string_view controller) {
    const Fact<std::string> text = root.read("/proc/self/cgroup");
    for (const std::string_view line : split(text.value, '\n')) {
        const auto fields = split(line, ':');
        if (fields.size() < 3 || !fields[2].starts_with('/')) {
            continue;
        }
        const bool version2 = fields[1].empty();
        const auto controllers = split(fields[1], ',');
        if (controller.empty() ? version2 : std::find(controllers.begin(), controllers.end(), controller) != controllers.end()) {
            return std::string(fields[2]);
        }
    }
    return {};
}

// Calls `look` with the folder of a group and those of its parents, of which each sets limits of its own.
template <class Look>
void for_each_group(const std::string& hierarchy, std::string folder, Look look) {
    while (true) {
        look(hierarchy + folder);
        const auto parent = folder.rfind('/');
        if (parent == std::string::npos || folder == "/") {
            return;
        }
        folder.resize(parent);
    }
}

// The least that is left below the limits of a group and its parents.
std::uint64_t left_in_groups(const MachineRoot& root, const std::string& hierarchy, const std::string& folder, const char* limit,
                             const char* used, std::uint64_t left) {
    for_each_group(hierarchy, folder, [&](const std::string& group) {
        const auto most = number_of_file(root, group + "/" + limit);
        const auto now = number_of_file(root, group + "/" + used);
        if (most && now) {
            left = std::min(left, *most > *now ? *most - *now : 0);
        }
    });
    return left;
}

// So much time in each period, by all threads together. Absent where there is no limit.
std::optional<std::uint64_t> cores_of_quota(std::optional<std::uint64_t> allowed, std::optional<std::uint64_t> period) {
    if (!allowed || !period || *period == 0) {
        return std::nullopt;
    }
    return *allowed / *period + (*allowed % *period != 0 ? 1 : 0);
}

// Version 2 has both numbers in one file: "150000 100000".
std::optional<std::uint64_t> cores_of_group(const MachineRoot& root, const std::string& group) {
    const Fact<std::string> quota = root.read(group + "/cpu.max");
    const auto fields = split(trim(quota.value), ' ');
    return cores_of_quota(number_in(fields[0]), fields.size() == 2 ? number_in(fields[1]) : std::nullopt);
}

// Version 1 has a file for each; -1 is no limit.
std::optional<std::uint64_t> cores_of_version1_group(const MachineRoot& root, const std::string& group) {
    return cores_of_quota(number_of_file(root, group + "/cpu.cfs_quota_us"), number_of_file(root, group + "/cpu.cfs_period_us"));
}

// The kernel refuses a mask with less room than it has CPUs, which may be more than cpu_set_t's 1024.
std::uint32_t cores_of_mask() {
    constexpr int kMostCpus = 1 << 20;
    for (int cpus = CPU_SETSIZE; cpus <= kMostCpus; cpus *= 2) {
        const std::unique_ptr<cpu_set_t, decltype([](cpu_set_t* set) { CPU_FREE(set); })> mask(CPU_ALLOC(cpus));
        const std::size_t size_bytes = CPU_ALLOC_SIZE(cpus);
        if (mask != nullptr && ::sched_getaffinity(0, size_bytes, mask.get()) == 0) {
            return static_cast<std::uint32_t>(CPU_COUNT_S(size_bytes, mask.get()));
        }
        if (errno != EINVAL) {
            break;
        }
    }
    return 1;
}

// "65536k" -> bytes; tmpfs also knows m, g and a percentage (tmpfs(5)), of which the mount table shows the first alone.
std::optional<std::uint64_t> size_option(std::string_view options) {
    constexpr std::string_view kName = "size=";
    for (const std::string_view option : split(options, ',')) {
        const auto kib = option.starts_with(kName) && option.ends_with('k') ? number_in(option.substr(kName.size())) : std::nullopt;
        if (kib && *kib <= std::numeric_limits<std::uint64_t>::max() / 1024) {
            return *kib * 1024;
        }
    }
    return std::nullopt;
}

}  // namespace

std::uint64_t free_memory_bytes(const MachineRoot& root) {
    const Fact<std::string> text = root.read("/proc/meminfo");
    std::uint64_t free_bytes = 0;
    for (const std::string_view line : split(text.value, '\n')) {
        if (line.starts_with("MemAvailable:")) {
            free_bytes = number_in(line.substr(13)).value_or(0) * 1024;
        }
    }
    free_bytes = left_in_groups(root, "/sys/fs/cgroup", cgroup_folder(root, ""), "memory.max", "memory.current", free_bytes);
    return left_in_groups(root, "/sys/fs/cgroup/memory", cgroup_folder(root, "memory"), "memory.limit_in_bytes",
                          "memory.usage_in_bytes", free_bytes);
}

std::optional<std::uint64_t> cores_under_quotas(const MachineRoot& root) {
    std::optional<std::uint64_t> least;
    const auto take = [&](std::optional<std::uint64_t> cores) { least = cores ? std::min(*cores, least.value_or(*cores)) : least; };
    for_each_group("/sys/fs/cgroup", cgroup_folder(root, ""), [&](const auto& group) { take(cores_of_group(root, group)); });
    for_each_group("/sys/fs/cgroup/cpu", cgroup_folder(root, "cpu"),
                   [&](const auto& group) { take(cores_of_version1_group(root, group)); });
    return least;
}

std::uint32_t usable_cores(const MachineRoot& root) {
    const std::uint64_t cores = root.is_live() ? cores_of_mask() : 1;
    return static_cast<std::uint32_t>(std::max<std::uint64_t>(1, std::min(cores, cores_under_quotas(root).value_or(cores))));
}

// "Max locked memory         8388608              8388608              bytes": the soft limit.
Fact<std::uint64_t> soft_limit(const MachineRoot& root, std::string_view name) {
    const std::string path = "/proc/self/limits";
    const Fact<std::string> text = root.read(path);
    for (const std::string_view line : split(text.value, '\n')) {
        if (!line.starts_with(name)) {
            continue;
        }
        const std::string_view rest = trim(line.substr(name.size()));
        if (rest.starts_with("unlimited")) {
            return known_fact(std::numeric_limits<std::uint64_t>::max(), path);
        }
        const std::optional<std::uint64_t> number = number_in(rest);
        return number ? known_fact(*number, path) : unknown_fact<std::uint64_t>(path, "no number");
    }
    return {text.known() ? Known::absent : text.state, 0, path, text.why};
}

Fact<std::uint64_t> shared_memory_bytes(const MachineRoot& root) {
    constexpr const char* kPlace = "/dev/shm";
    if (root.is_live()) {
        struct statvfs state {};
        return ::statvfs(kPlace, &state) == 0 ? known_fact(std::uint64_t{state.f_blocks} * state.f_frsize, kPlace)
                                              : absent_fact<std::uint64_t>(kPlace);
    }
    const Fact<std::vector<MountFacts>> mounts = read_mounts(root);
    for (auto mount = mounts.value.rbegin(); mount != mounts.value.rend(); ++mount) {
        if (mount->mount_point == kPlace) {
            const auto size = size_option(mount->options);
            return size ? known_fact(*size, mounts.source) : unknown_fact<std::uint64_t>(mounts.source, "the mount has no option size");
        }
    }
    return {mounts.known() ? Known::absent : mounts.state, 0, mounts.source, mounts.why};
}

}  // namespace waybill
