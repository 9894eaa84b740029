#include "facts/nvidia_fs.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace waybill {
namespace {

constexpr const char* kFolder = "/proc/driver/nvidia-fs";

// The statistics begin with "NVFS Driver(version: 2.27.3)"; the version file has major and minor alone ("version: 2.27").
std::string whole_version(const MachineRoot& root) {
    constexpr std::string_view kMark = "(version:";
    const Fact<std::string> text = root.read(std::string(kFolder) + "/stats");
    const auto at = text.value.find(kMark);
    const auto end = at == std::string::npos ? at : text.value.find(')', at);
    if (end == std::string::npos) {
        return std::string(trim(root.read("/sys/module/nvidia_fs/version").value));
    }
    return std::string(trim(std::string_view(text.value).substr(at + kMark.size(), end - at - kMark.size())));
}

Fact<std::string> read_version(const MachineRoot& root) {
    if (std::string whole = whole_version(root); !whole.empty()) {
        return known_fact(std::move(whole), std::string(kFolder) + "/stats");
    }
    const Fact<std::string> text = root.read(std::string(kFolder) + "/version");
    if (!text.known()) {
        return text;
    }
    const auto colon = text.value.find(':');
    const std::string_view body = colon == std::string::npos ? std::string_view(text.value) : std::string_view(text.value).substr(colon + 1);
    return known_fact(std::string(trim(body)), text.source);
}

// "nvme: 3", a line for each driver that registered.
Fact<std::vector<std::string>> read_registered(const MachineRoot& root) {
    const Fact<std::string> text = root.read(std::string(kFolder) + "/modules");
    if (!text.known()) {
        return {text.state, {}, text.source, text.why};
    }
    std::vector<std::string> drivers;
    for (const std::string_view line : split(text.value, '\n')) {
        const std::string_view name = trim(line.substr(0, line.find(':')));
        if (!name.empty()) {
            drivers.emplace_back(name);
        }
    }
    return known_fact(std::move(drivers), text.source);
}

Fact<bool> find_device_nodes(const MachineRoot& root) {
    const Fact<std::vector<std::string>> names = root.list("/dev");
    if (names.unknown()) {
        return unknown_fact<bool>("/dev/nvidia-fs*", names.why);
    }
    const bool found = std::any_of(names.value.begin(), names.value.end(),
                                   [](const std::string& name) { return name.starts_with("nvidia-fs"); });
    return found ? known_fact(true, "/dev/nvidia-fs*") : absent_fact<bool>("/dev/nvidia-fs*");
}

}  // namespace

NvidiaFsFacts read_nvidia_fs(const MachineRoot& root) {
    NvidiaFsFacts facts;
    facts.loaded = root.exists(kFolder);
    if (!facts.loaded.known()) {
        const Fact<bool> module = root.exists("/sys/module/nvidia_fs");
        facts.loaded = module.known() ? module : facts.loaded;
    }
    facts.version = read_version(root);
    facts.registered = read_registered(root);
    facts.device_nodes = find_device_nodes(root);
    return facts;
}

}  // namespace waybill
