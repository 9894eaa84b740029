#include "facts/host.hpp"

#include "base/text.hpp"

namespace waybill {

Fact<std::string> read_kernel_release(const MachineRoot& root) {
    Fact<std::string> release = root.read("/proc/sys/kernel/osrelease");
    release.value = std::string(trim(release.value));
    return release;
}

Fact<std::string> find_container(const MachineRoot& root) {
    if (root.exists("/.dockerenv").known()) {
        return known_fact<std::string>("docker", "/.dockerenv");
    }
    if (root.exists("/run/.containerenv").known()) {
        return known_fact<std::string>("podman", "/run/.containerenv");
    }
    const Fact<std::string> groups = root.read("/proc/1/cgroup");
    for (const char* word : {"kubepods", "docker", "containerd", "lxc"}) {
        if (groups.value.find(word) != std::string::npos) {
            return known_fact<std::string>(word, "/proc/1/cgroup");
        }
    }
    return absent_fact<std::string>("/.dockerenv, /run/.containerenv, /proc/1/cgroup");
}

bool is_wsl(const std::string& kernel_release) {
    const std::string word = lower(kernel_release);
    return word.find("microsoft") != std::string::npos || word.find("wsl") != std::string::npos;
}

}  // namespace waybill
