#include "facts/pci.hpp"

#include <algorithm>
#include <charconv>

#include "base/pci_address.hpp"
#include "base/text.hpp"

namespace waybill {
namespace {

constexpr const char* kDevices = "/sys/bus/pci/devices/";

Fact<std::int64_t> read_number(const MachineRoot& root, const std::string& path) {
    const Fact<std::string> text = root.read(path);
    if (!text.known()) {
        return {text.state, 0, path, text.why};
    }
    const std::string_view body = trim(text.value);
    std::int64_t number = 0;
    const auto [end, problem] = std::from_chars(body.data(), body.data() + body.size(), number);
    return problem == std::errc() ? known_fact(number, path) : unknown_fact<std::int64_t>(path, "no number");
}

// "16.0 GT/s PCIe" -> 16
Fact<double> read_speed(const MachineRoot& root, const std::string& path) {
    const Fact<std::string> text = root.read(path);
    if (!text.known()) {
        return {text.state, 0, path, text.why};
    }
    const std::string_view body = trim(text.value);
    double speed = 0;
    const auto [end, problem] = std::from_chars(body.data(), body.data() + body.size(), speed);
    return problem == std::errc() ? known_fact(speed, path) : unknown_fact<double>(path, "no speed");
}

// ../../../devices/pci0000:00/0000:00:01.0/0000:01:00.0 -> the parts from the root complex on
std::vector<std::string> way_in(std::string_view link) {
    std::vector<std::string> way;
    for (const std::string_view part : split(link, '/')) {
        if (part.starts_with("pci") || (!way.empty() && is_pci_address(part))) {
            way.emplace_back(part);
        }
    }
    return way;
}

std::uint32_t word_at(std::string_view bytes, std::size_t at) {
    std::uint32_t word = 0;
    for (std::size_t k = 0; k < 4; ++k) {
        word |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[at + k])) << (8 * k);
    }
    return word;
}

void read_acs(const MachineRoot& root, PciFacts& facts) {
    for (std::size_t k = 1; k + 1 < facts.way.size(); ++k) {
        const std::string path = kDevices + facts.way[k] + "/config";
        const Fact<std::string> bytes = root.read(path, 4096);
        const Fact<bool> redirects = bytes.known() ? acs_redirects(bytes.value, path) : unknown_fact<bool>(path, bytes.why);
        if (redirects.is(true)) {
            facts.acs_on.push_back(facts.way[k]);
        }
        // A saved machine may lack the file; on a running one it is there for root alone.
        facts.acs_unknown = facts.acs_unknown || (redirects.unknown() && !bytes.absent());
    }
}

// Lines of "0xSTART 0xEND 0xFLAGS", one a region: the second is BAR1 of NVIDIA's GPUs.
Fact<std::uint64_t> read_bar1(const MachineRoot& root, const std::string& path) {
    const Fact<std::string> text = root.read(path);
    const auto lines = split(text.value, '\n');
    const auto words = lines.size() > 1 ? split(lines[1], ' ') : std::vector<std::string_view>{};
    std::uint64_t ends[2] = {};
    for (std::size_t k = 0; k < 2 && words.size() > 1; ++k) {
        const std::string_view digits = words[k].starts_with("0x") ? words[k].substr(2) : std::string_view();
        if (std::from_chars(digits.data(), digits.data() + digits.size(), ends[k], 16).ec != std::errc()) {
            return unknown_fact<std::uint64_t>(path, "no address");
        }
    }
    if (ends[1] <= ends[0]) {
        return {text.known() ? Known::absent : text.state, 0, path, text.why};
    }
    return known_fact(ends[1] - ends[0] + 1, path);
}

// "Model: \t\t NVIDIA H200" -> NVIDIA H200
std::string field_of(std::string_view text, std::string_view name) {
    for (const std::string_view line : split(text, '\n')) {
        if (line.starts_with(name) && line.size() > name.size() && line[name.size()] == ':') {
            return std::string(trim(line.substr(name.size() + 1)));
        }
    }
    return {};
}

std::vector<GpuFacts> gpus_of_driver(const MachineRoot& root) {
    std::vector<GpuFacts> gpus;
    constexpr const char* kFolder = "/proc/driver/nvidia/gpus";
    for (const std::string& address : root.list(kFolder).value) {
        const std::string path = std::string(kFolder) + "/" + address + "/information";
        const Fact<std::string> text = root.read(path);
        GpuFacts gpu;
        gpu.present = known_fact(true, std::string(kFolder));
        gpu.pci_address = plain_pci_address(address);
        gpu.name = field_of(text.value, "Model");
        gpu.uuid = field_of(text.value, "GPU UUID");
        gpu.gpu_direct_rdma = unknown_fact<bool>(path, "the driver's interface tells, not a file");
        gpus.push_back(std::move(gpu));
    }
    return gpus;
}

std::vector<GpuFacts> gpus_of_bus(const MachineRoot& root) {
    std::vector<GpuFacts> gpus;
    for (const std::string& address : root.list("/sys/bus/pci/devices").value) {
        const std::string folder = kDevices + address;
        if (trim(root.read(folder + "/vendor").value) != "0x10de") {
            continue;
        }
        // Display controllers: 0x0300 VGA, 0x0302 3D.
        const std::string kind(trim(root.read(folder + "/class").value));
        if (!kind.starts_with("0x0300") && !kind.starts_with("0x0302")) {
            continue;
        }
        GpuFacts gpu;
        gpu.present = known_fact(true, folder);
        gpu.pci_address = address;
        gpu.gpu_direct_rdma = unknown_fact<bool>(folder, "the driver tells, and it is not loaded");
        gpus.push_back(std::move(gpu));
    }
    return gpus;
}

}  // namespace

Fact<PciFacts> read_pci(const MachineRoot& root, const std::string& address) {
    const std::string folder = kDevices + address;
    const Fact<std::string> link = root.link(folder);
    if (!link.known() && !root.exists(folder).known()) {
        return {link.state, {}, folder, link.why};
    }
    PciFacts facts;
    facts.address = address;
    facts.way = way_in(link.value);
    facts.numa_node = read_number(root, folder + "/numa_node");
    facts.link_gt_per_s = read_speed(root, folder + "/current_link_speed");
    facts.link_most_gt_per_s = read_speed(root, folder + "/max_link_speed");
    facts.lanes = read_number(root, folder + "/current_link_width");
    facts.lanes_most = read_number(root, folder + "/max_link_width");
    facts.iommu_group_type = root.read(folder + "/iommu_group/type");
    facts.iommu_group_type.value = std::string(trim(facts.iommu_group_type.value));
    facts.bar1_bytes = read_bar1(root, folder + "/resource");
    read_acs(root, facts);
    return known_fact(std::move(facts), folder);
}

PciDistance distance_between(const PciFacts& one, const PciFacts& other) {
    std::size_t shared = 0;
    while (shared < one.way.size() && shared < other.way.size() && one.way[shared] == other.way[shared]) {
        ++shared;
    }
    if (shared >= 2) {
        return PciDistance::same_switch;
    }
    if (shared == 1) {
        return PciDistance::same_root;
    }
    const bool nodes_known = one.numa_node.known() && other.numa_node.known() && one.numa_node.value >= 0 && other.numa_node.value >= 0;
    if (!nodes_known) {
        return PciDistance::unknown;
    }
    return one.numa_node.value == other.numa_node.value ? PciDistance::same_socket : PciDistance::other_socket;
}

Fact<bool> acs_redirects(std::string_view configuration_space, const std::string& source) {
    constexpr std::size_t kExtended = 0x100;
    constexpr std::uint32_t kAcs = 0x000d;
    constexpr std::uint32_t kRequestRedirect = 1U << 2;
    constexpr std::uint32_t kCompletionRedirect = 1U << 3;
    if (configuration_space.size() <= kExtended) {
        return unknown_fact<bool>(source, "its extended part needs root to read");
    }
    std::size_t at = kExtended;
    // Each capability takes at least 8 bytes, so that a longer chain is a loop.
    for (std::size_t steps = 0; steps < 4096 / 8 && at >= kExtended && at + 8 <= configuration_space.size(); ++steps) {
        const std::uint32_t head = word_at(configuration_space, at);
        if ((head & 0xffff) == kAcs) {
            const std::uint32_t control = word_at(configuration_space, at + 4) >> 16;
            return known_fact((control & (kRequestRedirect | kCompletionRedirect)) != 0, source);
        }
        at = head >> 20;
    }
    return known_fact(false, source);
}

std::vector<GpuFacts> read_gpus(const MachineRoot& root) {
    std::vector<GpuFacts> gpus = gpus_of_driver(root);
    if (gpus.empty()) {
        gpus = gpus_of_bus(root);
    }
    std::sort(gpus.begin(), gpus.end(), [](const GpuFacts& a, const GpuFacts& b) { return a.pci_address < b.pci_address; });
    for (std::size_t k = 0; k < gpus.size(); ++k) {
        gpus[k].device = static_cast<int>(k);
    }
    return gpus;
}

Fact<bool> read_iommu(const MachineRoot& root) {
    const Fact<std::vector<std::string>> units = root.list("/sys/class/iommu");
    if (units.known() && !units.value.empty()) {
        return known_fact(true, "/sys/class/iommu");
    }
    const Fact<std::vector<std::string>> groups = root.list("/sys/kernel/iommu_groups");
    if (groups.known() && !groups.value.empty()) {
        return known_fact(true, "/sys/kernel/iommu_groups");
    }
    if (units.unknown() || groups.unknown()) {
        return unknown_fact<bool>("/sys/class/iommu", units.why + groups.why);
    }
    // A saved machine may hold no more than its command line.
    const Fact<std::string> line = root.read("/proc/cmdline");
    for (const char* word : {"intel_iommu=on", "amd_iommu=on", "iommu=force"}) {
        if (!units.known() && !groups.known() && line.value.find(word) != std::string::npos) {
            return known_fact(true, "/proc/cmdline");
        }
    }
    return units.known() || groups.known() || line.known() ? known_fact(false, "/sys/class/iommu, /sys/kernel/iommu_groups")
                                                           : unknown_fact<bool>("/sys/class/iommu", "not there");
}

}  // namespace waybill
