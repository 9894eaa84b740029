#include "facts/udev.hpp"

#include "base/text.hpp"

namespace waybill {

std::optional<std::string> udev_usage(std::string_view text) {
    constexpr std::string_view kUsage = "E:ID_FS_USAGE=";
    std::optional<std::string> usage;
    for (const std::string_view line : split(text, '\n')) {
        if (line.starts_with(kUsage)) {
            usage = trim(line.substr(kUsage.size()));
        }
    }
    return usage;
}

UdevRecord read_udev_record(const MachineRoot& root, DeviceNumber device) {
    const std::string path = "/run/udev/data/b" + std::to_string(device.major) + ":" + std::to_string(device.minor);
    const Fact<std::string> text = root.read(path);
    UdevRecord record;
    record.record = {text.state, text.known(), path, text.why};
    record.usage = {text.known() ? Known::absent : text.state, {}, path, text.why};
    if (auto usage = udev_usage(text.value)) {
        record.usage = known_fact(*std::move(usage), path);
    }
    return record;
}

}  // namespace waybill
