#include "facts/block.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace waybill {
namespace {

constexpr int kDeepest = 16;  // a stack deeper than this is a loop in a broken fixture

// The last component of a link such as ../../devices/pci0000:00/.../block/nvme0n1/nvme0n1p2
std::string last_component(std::string_view path) {
    const auto slash = path.rfind('/');
    return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

// A partition's folder lies in its disk's.
std::string disk_of(std::string_view link) {
    const auto parts = split(link, '/');
    return parts.size() >= 2 ? std::string(parts[parts.size() - 2]) : std::string();
}

BlockFacts::Kind kind_of(const MachineRoot& root, const std::string& disk) {
    if (disk.starts_with("nvme")) {
        // nvme0n1 -> nvme0; the controller tells its transport: pcie, rdma, tcp, fc, loop.
        const std::string controller = disk.substr(0, disk.find('n', 4));
        const Fact<std::string> transport = root.read("/sys/class/nvme/" + controller + "/transport");
        return transport.known() && trim(transport.value) != "pcie" ? BlockFacts::Kind::nvme_of : BlockFacts::Kind::nvme;
    }
    if (disk.starts_with("sd") || disk.starts_with("sr")) {
        return BlockFacts::Kind::scsi;
    }
    if (disk.starts_with("vd")) {
        return BlockFacts::Kind::virtio;
    }
    if (disk.starts_with("loop")) {
        return BlockFacts::Kind::loop;
    }
    if (disk.starts_with("dm-")) {
        return BlockFacts::Kind::device_mapper;
    }
    return disk.starts_with("md") ? BlockFacts::Kind::md : BlockFacts::Kind::other;
}

void add_members(const MachineRoot& root, const std::string& name, std::vector<std::string>& stack, int depth) {
    if (depth > kDeepest) {
        return;
    }
    for (const std::string& member : root.list("/sys/class/block/" + name + "/slaves").value) {
        if (std::find(stack.begin(), stack.end(), member) == stack.end()) {
            stack.push_back(member);
            add_members(root, member, stack, depth + 1);
        }
    }
}

}  // namespace

Fact<BlockFacts> block_of_device(const MachineRoot& root, DeviceNumber device) {
    BlockFacts block;
    const std::string path = "/sys/dev/block/" + std::to_string(device.major) + ":" + std::to_string(device.minor);
    if (device.major == 0) {
        block.kind = BlockFacts::Kind::anonymous;
        return known_fact(std::move(block), path);
    }
    const Fact<std::string> link = root.link(path);
    if (!link.known()) {
        return {link.state, {}, link.source, link.why};
    }
    block.name = last_component(link.value);
    block.stack.push_back(block.name);
    std::string disk = block.name;
    if (root.exists(path + "/partition").known()) {
        disk = disk_of(link.value);
        block.stack.push_back(disk);
    }
    block.kind = kind_of(root, disk);
    add_members(root, disk, block.stack, 0);
    return known_fact(std::move(block), path);
}

}  // namespace waybill
