#include "facts/block.hpp"

#include <algorithm>
#include <cctype>

#include "base/pci_address.hpp"
#include "base/text.hpp"

namespace waybill {
namespace {

using Kind = BlockLayer::Kind;

constexpr std::size_t kMostLayers = 64;  // a stack with more is a loop in a broken fixture

std::string last_component(std::string_view path) {
    const auto slash = path.rfind('/');
    return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

Kind kind_of(const MachineRoot& root, const std::string& disk) {
    if (disk.starts_with("nvme")) {
        // nvme0n1 -> nvme0; the controller tells its transport: pcie, rdma, tcp, fc, loop.
        const std::string controller = disk.substr(0, disk.find('n', 4));
        const Fact<std::string> transport = root.read("/sys/class/nvme/" + controller + "/transport");
        return transport.known() && trim(transport.value) != "pcie" ? Kind::nvme_of : Kind::nvme;
    }
    constexpr std::pair<std::string_view, Kind> kNames[] = {{"sd", Kind::scsi},           {"sr", Kind::scsi},
                                                            {"vd", Kind::virtio},         {"xvd", Kind::virtio},
                                                            {"loop", Kind::loop},         {"dm-", Kind::device_mapper},
                                                            {"mapper/", Kind::device_mapper}, {"md", Kind::md}};
    for (const auto& [start, kind] : kNames) {
        if (disk.starts_with(start)) {
            return kind;
        }
    }
    return Kind::other;
}

// nvme0n1p2 -> nvme0n1, sda1 -> sda, md0p1 -> md0: for a machine whose sysfs does not tell. Empty for a whole disk.
std::string disk_in_name(const std::string& name) {
    const auto digits = name.find_last_not_of("0123456789");
    if (digits == std::string::npos || digits + 1 == name.size()) {
        return {};
    }
    const std::string stem = name.substr(0, digits + 1);
    if (stem.size() >= 2 && stem.back() == 'p' && std::isdigit(static_cast<unsigned char>(stem[stem.size() - 2])) != 0) {
        return stem.substr(0, stem.size() - 1);
    }
    const bool lettered = stem.starts_with("sd") || stem.starts_with("vd") || stem.starts_with("xvd");
    return lettered ? stem : std::string();
}

// The last PCI address in a link: .../0000:00:01.0/0000:01:00.0/nvme/nvme0/nvme0n1 -> 0000:01:00.0
std::string pci_address_in(std::string_view link) {
    std::string address;
    for (const std::string_view part : split(link, '/')) {
        if (is_pci_address(part)) {
            address = part;
        }
    }
    return address;
}

// With multipath a disk is virtual; its controller of the same number tells where it is.
std::string pci_address_of(const MachineRoot& root, const std::string& name, std::string_view link) {
    std::string address = pci_address_in(link);
    if (address.empty() && name.starts_with("nvme")) {
        const std::string controller = "/sys/class/nvme/" + name.substr(0, name.find('n', 4));
        address = pci_address_in(root.link(controller).value);
        if (address.empty()) {
            address = std::string(trim(root.read(controller + "/address").value));
        }
    }
    return address;
}

class Stack {
public:
    explicit Stack(const MachineRoot& root) : root_(root) {}

    // `link`: what sysfs links the device's name to; empty: asked here.
    void add(const std::string& name, std::string link) {
        const bool known = std::any_of(layers_.begin(), layers_.end(), [&](const BlockLayer& layer) { return layer.name == name; });
        if (known || name.empty() || layers_.size() >= kMostLayers) {
            return;
        }
        if (link.empty()) {
            link = root_.link("/sys/class/block/" + name).value;
        }
        const std::string disk = disk_of_partition(name, link);
        layers_.push_back({disk.empty() ? kind_of(root_, name) : Kind::partition, name, pci_address_of(root_, name, link)});
        if (!disk.empty()) {
            add(disk, link.substr(0, link.rfind('/') == std::string::npos ? 0 : link.rfind('/')));
            return;
        }
        for (const char* folder : {"/sys/class/block/", "/sys/block/"}) {
            for (const std::string& member : root_.list(folder + name + "/slaves").value) {
                add(member, {});
            }
        }
    }

    [[nodiscard]] const std::vector<BlockLayer>& layers() const { return layers_; }

private:
    // The disk that the partition `name` lies on, or empty.
    [[nodiscard]] std::string disk_of_partition(const std::string& name, const std::string& link) const {
        const std::string guess = disk_in_name(name);
        if (root_.exists("/sys/class/block/" + name + "/partition").known() || (!link.empty() && !guess.empty())) {
            const auto parts = split(link, '/');
            const std::string folder = parts.size() >= 2 ? std::string(parts[parts.size() - 2]) : std::string();
            return !guess.empty() ? guess : (folder == "block" || folder == ".." ? std::string() : folder);
        }
        return guess;
    }

    const MachineRoot& root_;
    std::vector<BlockLayer> layers_;
};

}  // namespace

Fact<BlockFacts> block_of_device(const MachineRoot& root, DeviceNumber device, const std::string& mount_source) {
    BlockFacts block;
    const std::string path = "/sys/dev/block/" + std::to_string(device.major) + ":" + std::to_string(device.minor);
    if (device.major == 0) {
        block.kind = Kind::anonymous;
        return known_fact(std::move(block), path);
    }
    const Fact<std::string> link = root.link(path);
    const bool named = mount_source.starts_with("/dev/");
    if (!link.known() && !named) {
        return {link.state, {}, link.source, link.why};
    }
    block.name = link.known() ? last_component(link.value)
                 : mount_source.starts_with("/dev/mapper/") ? mount_source.substr(5)
                                                            : last_component(mount_source);
    Stack stack(root);
    stack.add(block.name, link.value);
    block.stack = stack.layers();
    const auto whole = std::find_if(block.stack.begin(), block.stack.end(),
                                    [](const BlockLayer& layer) { return layer.kind != Kind::partition; });
    block.kind = whole == block.stack.end() ? Kind::other : whole->kind;
    return known_fact(std::move(block), link.known() ? path : "the mount's source");
}

}  // namespace waybill
