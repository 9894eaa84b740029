#include "facts/udev.hpp"

#include "base/text.hpp"

namespace waybill {

UdevRecord read_udev_record(const MachineRoot& root, DeviceNumber device) {
    const std::string path = "/run/udev/data/b" + std::to_string(device.major) + ":" + std::to_string(device.minor);
    const Fact<std::string> text = root.read(path);
    UdevRecord record;
    record.record = {text.state, text.known(), path, text.why};
    record.usage = {text.known() ? Known::absent : text.state, {}, path, text.why};
    constexpr std::string_view kUsage = "E:ID_FS_USAGE=";
    for (const std::string_view line : split(text.value, '\n')) {
        if (line.starts_with(kUsage)) {
            record.usage = known_fact(std::string(trim(line.substr(kUsage.size()))), path);
        }
    }
    return record;
}

}  // namespace waybill
