#include "check/findings.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "check/advice.hpp"
#include "check/rules.hpp"
#include "route/conditions.hpp"

namespace waybill {
namespace {

// A machine, a file and a GPU on which everything for nvidia-fs is in place.
struct Healthy {
    FileFacts file;
    MachineFacts machine;
    GpuFacts gpu;
    SurroundingFacts surroundings;

    Healthy() {
        machine.root = "/";
        machine.modules_readable = known_fact(true, "x");
        machine.udev_database = known_fact(true, "x");
        machine.nvidia_fs = {known_fact(true, "x"), known_fact<std::string>("2.27", "x"), known_fact(true, "x"),
                             known_fact(std::vector<std::string>{"nvme"}, "x")};
        machine.cufile.library = known_fact<std::string>("/l/libcufile.so.0", "x");
        machine.cufile.version = known_fact(1150, "x");
        machine.nvidia_driver = known_fact<std::string>("580.1", "x");
        machine.container = absent_fact<std::string>("x");
        file.device = {259, 2};
        file.mount = known_fact(MountFacts{1, "ext4", "/dev/nvme0n1p2", "/data", "/", "rw,data=ordered", {259, 2}}, "x");
        file.block = known_fact(BlockFacts{BlockLayer::Kind::nvme, "nvme0n1p2", {{BlockLayer::Kind::nvme, "nvme0n1", "0000:02:00.0"}}}, "x");
        file.direct_open = known_fact(true, "x");
        file.udev_record = known_fact(true, "x");
        file.udev_usage = known_fact<std::string>("filesystem", "x");
        gpu.present = known_fact(true, "x");
        gpu.driver = known_fact(true, "x");
        gpu.name = "NVIDIA H200";
    }
    [[nodiscard]] CheckSubject subject() const { return {file, machine, gpu, surroundings}; }
    [[nodiscard]] std::vector<Finding> findings() const { return find_all(subject()); }
    [[nodiscard]] const Finding* find(const std::vector<Finding>& all, std::string_view id) const {
        const auto found = std::find_if(all.begin(), all.end(), [&](const Finding& finding) { return finding.id == id; });
        return found == all.end() ? nullptr : &*found;
    }
};

TEST(Findings, AHealthyMachineHasADirectPathAndNothingBlocks) {
    const Healthy machine;
    EXPECT_TRUE(direct_verdict(machine.subject()).possible);
    EXPECT_TRUE(cufile_verdict(machine.subject()).possible);
    for (const Finding& finding : machine.findings()) {
        EXPECT_NE(finding.severity, Severity::blocks_direct) << finding.id;
        EXPECT_NE(finding.severity, Severity::blocks_cufile) << finding.id;
    }
}

TEST(Findings, EveryConditionHasAdvice) {
    for (const Condition& condition : conditions()) {
        EXPECT_EQ(advice_for(condition.id).id, condition.id);
        EXPECT_FALSE(advice_for(condition.id).fix.empty()) << condition.id;
        EXPECT_FALSE(advice_for(condition.id).source.empty()) << condition.id;
    }
}

TEST(Findings, NoIdIsBothAConditionAndARule) {
    std::set<std::string_view> ids;
    for (const Condition& condition : conditions()) {
        ids.insert(condition.id);
    }
    for (const Rule& rule : rules()) {
        EXPECT_TRUE(ids.insert(rule.id).second) << rule.id;
    }
}

TEST(Findings, NoRuleBlocksAPath) {
    for (const Rule& rule : rules()) {
        EXPECT_TRUE(rule.severity == Severity::slows || rule.severity == Severity::note) << rule.id;
    }
}

// Each condition alone: taking one thing away is found, with the severity of what it is needed for, and is the verdict's reason.
TEST(Findings, WhatIsTakenAwayIsFound) {
    using Change = void (*)(Healthy&);
    struct Case {
        const char* id;
        bool blocks_cufile;
        Change change;
    };
    const Case cases[] = {
        {"no-gpu", true, [](Healthy& m) { m.gpu.present = absent_fact<bool>("x"); }},
        {"gpu-driver-missing", true, [](Healthy& m) { m.gpu.driver = absent_fact<bool>("x"); }},
        {"gpu-class-unsupported", false, [](Healthy& m) { m.gpu.name = "NVIDIA GeForce RTX 4090"; }},
        {"wsl", false, [](Healthy& m) { m.machine.wsl = true; }},
        {"cufile-missing", true, [](Healthy& m) { m.machine.cufile.library = absent_fact<std::string>("x"); }},
        {"cufile-dependency-missing", true, [](Healthy& m) { m.machine.cufile.missing_dependencies = known_fact(std::vector<std::string>{"librdmacm.so.1"}, "x"); }},
        {"compat-forced", false, [](Healthy& m) { m.machine.cufile.config.force_compat_mode = true; }},
        {"nvidia-fs-not-loaded", false, [](Healthy& m) { m.machine.nvidia_fs.loaded = absent_fact<bool>("x"); }},
        {"nvidia-fs-nodes-missing", false, [](Healthy& m) { m.machine.nvidia_fs.device_nodes = absent_fact<bool>("x"); }},
        {"nvidia-fs-known-bad", false, [](Healthy& m) { m.machine.nvidia_fs.version.value = "2.25.6"; }},
        {"nvme-not-registered", false, [](Healthy& m) { m.machine.nvidia_fs.registered.value = {"wekafsio"}; }},
        {"overlay", false, [](Healthy& m) { m.file.mount.value.file_system = "overlay"; m.machine.cufile.version.value = 1170; }},
        {"overlay", true, [](Healthy& m) { m.file.mount.value.file_system = "overlay"; }},
        {"filesystem-unsupported", false, [](Healthy& m) { m.file.mount.value.file_system = "btrfs"; m.machine.cufile.version.value = 1170; }},
        {"mount-data-mode", false, [](Healthy& m) { m.file.mount.value.options = "rw,data=journal"; }},
        {"block-device-unsupported", false, [](Healthy& m) { m.file.block.value.kind = BlockLayer::Kind::virtio; }},
        {"direct-open-refused", false, [](Healthy& m) { m.file.direct_open = absent_fact<bool>("x"); }},
        {"udev-missing", true, [](Healthy& m) { m.machine.udev_database = absent_fact<bool>("x"); m.file.udev_record = absent_fact<bool>("x"); }},
        {"udev-record-missing", true, [](Healthy& m) { m.file.udev_record = absent_fact<bool>("x"); }},
        {"udev-usage-missing", true, [](Healthy& m) { m.file.udev_usage = absent_fact<std::string>("x"); }},
    };
    for (const Case& each : cases) {
        Healthy machine;
        each.change(machine);
        const auto all = machine.findings();
        const Finding* finding = machine.find(all, each.id);
        ASSERT_NE(finding, nullptr) << each.id;
        EXPECT_EQ(finding->severity, each.blocks_cufile ? Severity::blocks_cufile : Severity::blocks_direct) << each.id;
        const Verdict direct = direct_verdict(machine.subject());
        ASSERT_TRUE(direct.first_failing) << each.id;
        EXPECT_EQ(direct.first_failing->id, each.id);
        const Verdict cufile = cufile_verdict(machine.subject());
        EXPECT_EQ(!cufile.possible, each.blocks_cufile) << each.id;
    }
}

// Not where such a thing is seen in general, but where this one was.
TEST(Findings, TheSourceIsWhatWasRead) {
    Healthy machine;
    const auto source_of = [&](std::string_view id) {
        const auto all = machine.findings();
        const Finding* finding = machine.find(all, id);
        return finding == nullptr ? "(not found)" : finding->source;
    };
    machine.file.udev_usage = absent_fact<std::string>("/run/udev/data/b259:2");
    EXPECT_EQ(source_of("udev-usage-missing"), "/run/udev/data/b259:2");
    machine.machine.cufile.config.force_compat_mode = true;
    machine.machine.cufile.config.origins = {{"properties.force_compat_mode", "/etc/cufile.json:7:9"}};
    EXPECT_EQ(source_of("compat-forced"), "/etc/cufile.json:7:9");
    machine.machine.nvidia_fs.version = known_fact<std::string>("2.25.6", "/sys/module/nvidia_fs/version");
    EXPECT_EQ(source_of("nvidia-fs-known-bad"), "/sys/module/nvidia_fs/version");
    machine.file.block = known_fact(BlockFacts{BlockLayer::Kind::virtio, "vda", {}}, "/sys/dev/block/254:0");
    EXPECT_EQ(source_of("block-device-unsupported"), "/sys/dev/block/254:0");
    machine.machine.nvidia_fs.loaded = absent_fact<bool>("/proc/driver/nvidia-fs");
    EXPECT_EQ(source_of("nvidia-fs-not-loaded"), "/proc/driver/nvidia-fs, /sys/module/nvidia_fs") << "two places were looked at";
}

// The library's own troubles hold for every file.
TEST(Findings, ALibraryThatCannotWorkHereServesNothing) {
    Healthy lacking;
    lacking.machine.cufile.missing_dependencies = known_fact(std::vector<std::string>{"librdmacm.so.1"}, "x");
    for (const Verdict& verdict : {direct_verdict(lacking.subject()), cufile_verdict(lacking.subject())}) {
        EXPECT_FALSE(verdict.possible || verdict.path);
        ASSERT_TRUE(verdict.first_failing);
        EXPECT_EQ(verdict.first_failing->id, "cufile-dependency-missing");
    }
}

TEST(Findings, ADriverOlderThanItsLibraryWantsIsANoteThatBlocksNothing) {
    Healthy old;
    old.machine.nvidia_driver.value = "525.60";
    const auto all = old.findings();
    const Finding* finding = old.find(all, "cufile-driver-mismatch");
    ASSERT_NE(finding, nullptr);
    EXPECT_EQ(finding->severity, Severity::note);
    EXPECT_NE(finding->seen.find("likely"), std::string::npos);
    EXPECT_TRUE(direct_verdict(old.subject()).possible && cufile_verdict(old.subject()).possible);
}

// No case confirms these: what is told must not sound as if one did.
TEST(Findings, WhatNoCaseConfirmedIsWordedAsLikely) {
    Healthy machine;
    machine.gpu.name = "NVIDIA GeForce RTX 4090";
    machine.machine.p2pdma.driver_static_bar = absent_fact<bool>("x");
    machine.machine.p2pdma.nvme_multipath = known_fact(true, "x");
    machine.file.block.value = {BlockLayer::Kind::md, "md0", {{BlockLayer::Kind::md, "md0", ""}, {BlockLayer::Kind::nvme, "nvme0n1", ""}}};
    const auto all = machine.findings();
    for (const char* id : {"gpu-class-unsupported", "p2pdma-driver", "p2pdma-multipath", "p2pdma-raid"}) {
        const Finding* finding = machine.find(all, id);
        ASSERT_NE(finding, nullptr) << id;
        EXPECT_NE(finding->seen.find("likely"), std::string::npos) << id;
    }
}

TEST(Findings, AMappedDeviceIsNoRaid) {
    Healthy machine;
    machine.machine.nvidia_fs.loaded = absent_fact<bool>("x");
    machine.file.block.value = {BlockLayer::Kind::device_mapper, "dm-0",
                                {{BlockLayer::Kind::device_mapper, "dm-0", ""}, {BlockLayer::Kind::nvme, "nvme0n1", ""}}};
    const auto all = machine.findings();
    EXPECT_EQ(machine.find(all, "p2pdma-raid"), nullptr);
}

TEST(Findings, AFileSystemThatNewerLibrariesTakeIsADoubtWhereTheVersionIsNotKnown) {
    for (const char* type : {"overlay", "tmpfs", "btrfs"}) {
        Healthy machine;
        machine.machine.cufile.version = {};
        machine.file.mount.value.file_system = type;
        const auto all = machine.findings();
        EXPECT_TRUE(std::any_of(all.begin(), all.end(), [](const Finding& finding) {
            return finding.seen.find("which one is here is not known") != std::string::npos;
        })) << type;
        EXPECT_TRUE(cufile_verdict(machine.subject()).possible) << type;
    }
}

TEST(Findings, AMemberOfAnArrayIsAskedForItsDriver) {
    Healthy machine;
    machine.file.block.value = {BlockLayer::Kind::md, "md0", {{BlockLayer::Kind::md, "md0", ""}, {BlockLayer::Kind::nvme, "nvme0n1", ""}}};
    machine.machine.nvidia_fs.registered.value = {"wekafsio"};
    machine.surroundings.nvme_symbol = known_fact<std::string>("v2", "/proc/kallsyms");
    const auto all = machine.findings();
    const Finding* finding = machine.find(all, "nvme-not-registered");
    ASSERT_NE(finding, nullptr);
    EXPECT_NE(finding->fix.find("26.04"), std::string::npos);
}

TEST(Findings, WhatSlowsComesAfterWhatBlocksAndNotesLast) {
    Healthy machine;
    machine.surroundings.iommu = known_fact(true, "/sys/class/iommu");
    machine.machine.container = known_fact<std::string>("docker", "/.dockerenv");
    machine.machine.udev_database = absent_fact<bool>("x");
    const auto all = machine.findings();
    const auto rank = [](Severity severity) { return severity == Severity::note ? 2 : severity == Severity::slows ? 1 : 0; };
    EXPECT_TRUE(std::is_sorted(all.begin(), all.end(), [&](const Finding& a, const Finding& b) { return rank(a.severity) < rank(b.severity); }));
    EXPECT_NE(machine.find(all, "iommu-on"), nullptr);
    EXPECT_NE(machine.find(all, "container"), nullptr);
}

TEST(Findings, WhatOnlyRootMayReadOfTheBusIsANoteThatSaysSo) {
    Healthy machine;
    machine.surroundings.gpu = known_fact(PciFacts{}, "x");
    machine.surroundings.gpu.value.acs_unknown = true;
    auto all = machine.findings();
    const Finding* finding = machine.find(all, "acs-on");
    ASSERT_NE(finding, nullptr);
    EXPECT_EQ(finding->severity, Severity::note);
    EXPECT_NE(finding->seen.find("cannot be known without root"), std::string::npos);
    machine.surroundings.gpu.value.acs_on = {"0000:00:01.0"};
    all = machine.findings();
    finding = machine.find(all, "acs-on");
    ASSERT_NE(finding, nullptr);
    EXPECT_EQ(finding->severity, Severity::slows);
    EXPECT_NE(finding->seen.find("0000:00:01.0; of other bridges it cannot be known without root"), std::string::npos);
}

TEST(Findings, TheBusIsJudged) {
    Healthy machine;
    PciFacts gpu;
    gpu.address = "0000:01:00.0";
    gpu.numa_node = known_fact<std::int64_t>(0, "x");
    gpu.lanes = known_fact<std::int64_t>(8, "x");
    gpu.lanes_most = known_fact<std::int64_t>(16, "x");
    gpu.acs_on = {"0000:00:01.0"};
    machine.surroundings.gpu = known_fact(gpu, "x");
    machine.surroundings.drive = known_fact(PciFacts{}, "x");
    machine.surroundings.distance = PciDistance::other_socket;
    const auto all = machine.findings();
    for (const char* id : {"acs-on", "pcie-far", "pcie-link-slow"}) {
        ASSERT_NE(machine.find(all, id), nullptr) << id;
        EXPECT_EQ(machine.find(all, id)->severity, Severity::slows) << id;
    }
}

TEST(Findings, ADriveBelowAnotherRootComplexAndASmallBarAreNotes) {
    Healthy machine;
    PciFacts gpu;
    gpu.way = {"pci0000:d7", "0000:d7:02.0", "0000:d8:00.0"};
    gpu.bar1_bytes = known_fact(std::uint64_t{256} << 20, "/sys/bus/pci/devices/0000:d8:00.0/resource");
    PciFacts drive;
    drive.way = {"pci0000:85", "0000:85:02.0", "0000:88:00.0"};
    machine.surroundings.gpu = known_fact(gpu, "x");
    machine.surroundings.drive = known_fact(drive, "x");
    machine.file.size_bytes = (std::uint64_t{256} << 20) + 1;
    for (const char* id : {"pcie-apart", "bar1-small"}) {
        const auto all = machine.findings();
        ASSERT_NE(machine.find(all, id), nullptr) << id;
        EXPECT_EQ(machine.find(all, id)->severity, Severity::note);
        EXPECT_NE(machine.find(all, id)->seen.find("likely"), std::string::npos);
    }
    machine.surroundings.drive.value.way.front() = "pci0000:d7";
    machine.file.size_bytes -= 1;
    const auto all = machine.findings();
    EXPECT_EQ(machine.find(all, "pcie-apart"), nullptr);
    EXPECT_EQ(machine.find(all, "bar1-small"), nullptr);
}

}  // namespace
}  // namespace waybill
