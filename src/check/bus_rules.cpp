#include "check/bus_rules.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace waybill {
namespace {

// A device's link below what it can do; the width is lost to a slot or a riser, the speed often to saving power.
std::string slow_link(const char* name, const Fact<PciFacts>& pci) {
    if (!pci.known()) {
        return {};
    }
    const PciFacts& facts = pci.value;
    const bool narrow = facts.lanes.known() && facts.lanes_most.known() && facts.lanes.value > 0 && facts.lanes.value < facts.lanes_most.value;
    const bool slow = facts.link_gt_per_s.known() && facts.link_most_gt_per_s.known() && facts.link_gt_per_s.value > 0 &&
                      facts.link_gt_per_s.value < facts.link_most_gt_per_s.value;
    if (!narrow && !slow) {
        return {};
    }
    return fmt::format("{} {} runs at {} GT/s x{} and can do {} GT/s x{}", name, facts.address, facts.link_gt_per_s.value, facts.lanes.value,
                       facts.link_most_gt_per_s.value, facts.lanes_most.value);
}

}  // namespace

bool iommu_on(const CheckSubject& subject, Finding& finding) {
    const SurroundingFacts& facts = subject.surroundings;
    if (!facts.iommu.is(true)) {
        return false;
    }
    const std::string& type = facts.gpu.value.iommu_group_type.value;
    if (type == "identity") {
        return false;  // passed through: addresses are not translated
    }
    finding.seen = type.empty() ? "the kernel uses an IOMMU"
                                : fmt::format("the kernel uses an IOMMU, and the GPU's group translates addresses ({})", type);
    finding.source = facts.iommu.source;
    finding.fix = "for direct paths boot with iommu=pt (or intel_iommu=off, amd_iommu=off) where the machine's policy allows it";
    finding.not_needed = "staged reads are not slowed by it";
    return true;
}

bool acs_on(const CheckSubject& subject, Finding& finding) {
    const PciFacts& gpu = subject.surroundings.gpu.value;
    const PciFacts& drive = subject.surroundings.drive.value;
    std::vector<std::string> bridges = gpu.acs_on;
    bridges.insert(bridges.end(), drive.acs_on.begin(), drive.acs_on.end());
    const bool unknown = gpu.acs_unknown || drive.acs_unknown;
    if (bridges.empty() && !unknown) {
        return false;
    }
    finding.source = "/sys/bus/pci/devices/*/config";
    if (bridges.empty()) {
        finding.severity = Severity::note;
        finding.seen = "whether ACS redirects peer-to-peer traffic to the root complex cannot be known without root, who alone may read the "
                       "bridges' configuration space";
        finding.fix = "run the check as root to know it";
        finding.not_needed = "staged reads are not slowed by it";
        return true;
    }
    finding.seen = fmt::format("ACS redirects peer-to-peer traffic to the root complex at {}{}", join(bridges, ", "),
                               unknown ? "; of other bridges it cannot be known without root" : "");
    finding.fix = "switch ACS off on these bridges (in the firmware, or setpci ECAP_ACS+6.w=0), where no virtual machine needs it";
    finding.not_needed = "staged reads are not slowed by it";
    return true;
}

bool pcie_far(const CheckSubject& subject, Finding& finding) {
    const SurroundingFacts& facts = subject.surroundings;
    if (facts.distance != PciDistance::other_socket) {
        return false;
    }
    finding.seen = fmt::format("the drive {} is on NUMA node {} and the GPU {} on node {}", facts.drive.value.address,
                               facts.drive.value.numa_node.value, facts.gpu.value.address, facts.gpu.value.numa_node.value);
    finding.source = "/sys/bus/pci/devices/*/numa_node";
    finding.fix = "use a GPU of the drive's socket, or keep the file on a drive of the GPU's";
    finding.not_needed = "";
    return true;
}

// NVIDIA/gds-nvidia-fs 78: by elimination, from its log.
bool pcie_apart(const CheckSubject& subject, Finding& finding) {
    const SurroundingFacts& facts = subject.surroundings;
    const PciFacts& gpu = facts.gpu.value;
    const PciFacts& drive = facts.drive.value;
    if (facts.distance == PciDistance::other_socket || gpu.way.empty() || drive.way.empty() || gpu.way.front() == drive.way.front()) {
        return false;
    }
    finding.seen = fmt::format("the GPU {} hangs below {} and the drive {} below {}: nvidia-fs likely goes through a buffer of the GPU more",
                               gpu.address, gpu.way.front(), drive.address, drive.way.front());
    finding.source = "/sys/bus/pci/devices";
    finding.fix = "where there is a choice, use a GPU and a drive below one root complex";
    finding.not_needed = "the path is direct all the same";
    return true;
}

// A mapping of the GPU's memory for a drive lies in BAR1 (NVIDIA/gds-nvidia-fs 4: a request of 524 MB did not fit in what was left).
bool bar1_small(const CheckSubject& subject, Finding& finding) {
    const Fact<std::uint64_t>& bar1 = subject.surroundings.gpu.value.bar1_bytes;
    if (!bar1.known() || subject.file.size_bytes <= bar1.value) {
        return false;
    }
    finding.seen = fmt::format("the GPU's BAR1 has {} in all, less than the file's {}: buffers that cuFile maps at once likely must fit in it",
                               size_text(bar1.value), size_text(subject.file.size_bytes));
    finding.source = bar1.source;
    finding.fix = "read in smaller pieces or register smaller buffers; where the firmware can, switch Resizable BAR on";
    finding.not_needed = "staged reads need no BAR1";
    return true;
}

bool pcie_link_slow(const CheckSubject& subject, Finding& finding) {
    const std::string gpu = slow_link("the GPU", subject.surroundings.gpu);
    const std::string drive = slow_link("the drive", subject.surroundings.drive);
    if (gpu.empty() && drive.empty()) {
        return false;
    }
    finding.seen = gpu + (gpu.empty() || drive.empty() ? "" : "; ") + drive;
    finding.source = "/sys/bus/pci/devices/*/current_link_speed, current_link_width";
    finding.fix = "look at it again while the device works: idle ones slow their link down to save power; a lasting loss is the slot, a riser or "
                  "the firmware's setting";
    return true;
}

}  // namespace waybill
