#include "facts/nvidia_fs.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace waybill {
namespace {

constexpr const char* kFolder = "/proc/driver/nvidia-fs";

Fact<std::string> read_version(const MachineRoot& root) {
    const std::string statistics = std::string(kFolder) + "/stats";
    if (std::string whole = nvidia_fs_version_in_stats(root.read(statistics).value); !whole.empty()) {
        return known_fact(std::move(whole), statistics);
    }
    Fact<std::string> module = root.read("/sys/module/nvidia_fs/version");
    if (module.value = std::string(trim(module.value)); !module.value.empty()) {
        return module;
    }
    // It has major and minor alone: "version: 2.27".
    Fact<std::string> text = root.read(std::string(kFolder) + "/version");
    const auto colon = text.value.find(':');
    text.value = std::string(trim(std::string_view(text.value).substr(colon == std::string::npos ? 0 : colon + 1)));
    return text;
}

Fact<std::vector<std::string>> read_registered(const MachineRoot& root) {
    const Fact<std::string> text = root.read(std::string(kFolder) + "/modules");
    if (!text.known()) {
        return {text.state, {}, text.source, text.why};
    }
    return known_fact(nvidia_fs_modules(text.value), text.source);
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

std::string nvidia_fs_version_in_stats(std::string_view text) {
    constexpr std::string_view kMark = "(version:";
    const auto at = text.find(kMark);
    const auto end = at == std::string_view::npos ? at : text.find(')', at);
    return end == std::string_view::npos ? std::string() : std::string(trim(text.substr(at + kMark.size(), end - at - kMark.size())));
}

std::vector<std::string> nvidia_fs_modules(std::string_view text) {
    std::vector<std::string> drivers;
    for (const std::string_view line : split(text, '\n')) {
        const std::string_view name = trim(line.substr(0, line.find(':')));
        if (!name.empty()) {
            drivers.emplace_back(name);
        }
    }
    return drivers;
}

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
