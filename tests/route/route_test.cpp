#include "waybill/route.hpp"

#include <gtest/gtest.h>

#include "route/conditions.hpp"
#include "route/suspicion.hpp"
#include "waybill/error.hpp"

namespace waybill {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

// A machine on which everything for nvidia-fs is in place.
MachineFacts direct_machine() {
    MachineFacts machine;
    machine.root = "/";
    machine.modules_readable = known_fact(true, "x");
    machine.udev_database = known_fact(true, "x");
    machine.nvidia_fs.loaded = known_fact(true, "x");
    machine.nvidia_fs.version = known_fact<std::string>("2.27", "x");
    machine.nvidia_fs.device_nodes = known_fact(true, "x");
    machine.nvidia_fs.registered = known_fact(std::vector<std::string>{"nvme"}, "x");
    machine.cufile.library = known_fact<std::string>("/l/libcufile.so.0", "x");
    machine.nvidia_driver = known_fact<std::string>("580.1", "x");
    machine.free_memory_bytes = 64ULL << 30;
    machine.cores = 16;
    return machine;
}

FileFacts direct_file() {
    FileFacts file;
    file.path = "/data/x";
    file.size_bytes = 1ULL << 30;
    file.device = {259, 2};
    MountFacts mount;
    mount.file_system = "ext4";
    mount.mount_point = "/data";
    mount.options = "rw,data=ordered";
    file.mount = known_fact(mount, "x");
    BlockFacts block;
    block.kind = BlockFacts::Kind::nvme;
    block.name = "nvme0n1p2";
    file.block = known_fact(block, "x");
    file.direct_open = known_fact(true, "x");
    file.udev_record = known_fact(true, "x");
    file.udev_usage = known_fact<std::string>("filesystem", "x");
    return file;
}

Settings settings_of(CompatMode mode) {
    Settings settings;
    settings.compat_mode.value = mode;
    settings.gds_threshold.value = 16384;
    settings.cached_share.value = 90;
    settings.page_cache.value = PageCacheUse::automatic;
    return settings;
}

RouteQuestion gpu_question(std::uint64_t size = 64 * kMiB) {
    RouteQuestion question;
    question.size_bytes = size;
    question.to_gpu = true;
    question.residency = {Residency::State::known, size, 0, 0, "cachestat"};
    return question;
}

Route ask(CompatMode mode, const RouteQuestion& question, const FileFacts& file, const MachineFacts& machine) {
    const GpuFacts gpu;
    return choose_route(question, settings_of(mode), file, machine, &gpu);
}

std::string first_reason(CompatMode mode, const RouteQuestion& question, const FileFacts& file, const MachineFacts& machine) {
    return ask(mode, question, file, machine).reasons.front().id;
}

TEST(Route, TheRulesInTheirOrder) {
    const FileFacts file = direct_file();
    const MachineFacts machine = direct_machine();
    RouteQuestion host;
    EXPECT_EQ(first_reason(CompatMode::off, host, file, machine), "host-destination");
    RouteQuestion managed = gpu_question();
    managed.managed_memory = true;
    EXPECT_EQ(first_reason(CompatMode::off, managed, file, machine), "managed-memory");
    EXPECT_EQ(first_reason(CompatMode::on, gpu_question(1), file, machine), "compat-on");
    EXPECT_EQ(first_reason(CompatMode::off, gpu_question(16383), file, machine), "below-threshold");
    EXPECT_EQ(first_reason(CompatMode::off, gpu_question(16384), file, machine), "compat-off");
    EXPECT_EQ(first_reason(CompatMode::automatic, gpu_question(), file, machine), "direct-possible");
    RouteQuestion hot = gpu_question();
    hot.residency.cached_bytes = hot.residency.range_bytes;
    EXPECT_EQ(first_reason(CompatMode::automatic, hot, file, machine), "in-page-cache");
}

TEST(Route, AutoTakesTheDirectPathWithTheDirectDescriptor) {
    const Route route = ask(CompatMode::automatic, gpu_question(), direct_file(), direct_machine());
    EXPECT_EQ(route.engine, EngineKind::cufile);
    EXPECT_EQ(route.expected_path, Path::nvidia_fs);
    EXPECT_TRUE(route.cufile_direct_descriptor);
    EXPECT_FALSE(route.suspicious_driver);
    EXPECT_FALSE(route.refused);
}

TEST(Route, AGpuOfAClassWithoutDirectPathsIsStagedAsCheckSays) {
    GpuFacts gpu;
    gpu.name = "NVIDIA GeForce RTX 4090";
    const Route route = choose_route(gpu_question(), settings_of(CompatMode::automatic), direct_file(), direct_machine(), &gpu);
    EXPECT_EQ(route.engine, EngineKind::staged);
    EXPECT_EQ(route.reasons.front().id, "gpu-class-unsupported");
}

TEST(Route, UnknownResidencyCountsAsNotCachedAndIsTold) {
    RouteQuestion question = gpu_question();
    question.residency.state = Residency::State::unknown;
    question.residency.cached_bytes = question.residency.range_bytes;
    const Route route = ask(CompatMode::automatic, question, direct_file(), direct_machine());
    EXPECT_EQ(route.engine, EngineKind::cufile);
    EXPECT_EQ(route.reasons.back().id, "residency-unknown");
}

TEST(Route, AutoNeverTakesCufilesOwnCompatibilityMode) {
    MachineFacts machine = direct_machine();
    machine.nvidia_fs.loaded = absent_fact<bool>("/proc/driver/nvidia-fs");
    const Route route = ask(CompatMode::automatic, gpu_question(), direct_file(), machine);
    EXPECT_EQ(route.engine, EngineKind::staged);
    EXPECT_EQ(route.reasons.front().id, "nvidia-fs-not-loaded");
}

TEST(Route, OffCallsCufileWithTheBufferedDescriptorWhereNothingIsDirect) {
    MachineFacts machine = direct_machine();
    machine.nvidia_fs.loaded = absent_fact<bool>("x");
    const Route route = ask(CompatMode::off, gpu_question(), direct_file(), machine);
    EXPECT_EQ(route.engine, EngineKind::cufile);
    EXPECT_EQ(route.expected_path, Path::cufile_posix);
    EXPECT_FALSE(route.cufile_direct_descriptor);
}

TEST(Route, OffWithoutTheLibraryIsRefusedNeverAnotherWay) {
    MachineFacts machine = direct_machine();
    machine.cufile.library = absent_fact<std::string>("x");
    const Route route = ask(CompatMode::off, gpu_question(), direct_file(), machine);
    ASSERT_TRUE(route.refused);
    EXPECT_EQ(route.refused->id, "cufile-missing");
}

TEST(Route, AMissingUdevRecordIsADoubtHereAndARefusalOnASavedMachine) {
    FileFacts file = direct_file();
    file.udev_record = absent_fact<bool>("/run/udev/data/b259:2");
    MachineFacts machine = direct_machine();
    Route route = ask(CompatMode::off, gpu_question(), file, machine);
    EXPECT_FALSE(route.refused);
    ASSERT_TRUE(route.doubt);
    EXPECT_EQ(route.doubt->id, "udev-record-missing");
    machine.root = "/saved";
    route = ask(CompatMode::off, gpu_question(), file, machine);
    ASSERT_TRUE(route.refused);
    EXPECT_EQ(route.refused->id, "udev-record-missing");
}

TEST(Route, ATmpfsFileNeedsNoUdevRecord) {
    FileFacts file = direct_file();
    file.memory_backed = true;
    file.udev_record = absent_fact<bool>("x");
    EXPECT_FALSE(ask(CompatMode::off, gpu_question(), file, direct_machine()).doubt);
}

struct Spoilt {
    const char* id;
    void (*spoil)(FileFacts&, MachineFacts&);
};

TEST(Conditions, EachOneThatFailsAloneIsNamed) {
    const Spoilt cases[] = {
        {"cufile-missing", [](FileFacts&, MachineFacts& m) { m.cufile.library = absent_fact<std::string>("x"); }},
        {"cufile-dependency-missing", [](FileFacts&, MachineFacts& m) { m.cufile.missing_dependencies = known_fact(std::vector<std::string>{"libx.so.1"}, "x"); }},
        {"cufile-json-invalid", [](FileFacts&, MachineFacts& m) { m.cufile.config.valid = false; }},
        {"compat-forced", [](FileFacts&, MachineFacts& m) { m.cufile.config.force_compat_mode = true; }},
        {"nvidia-fs-not-loaded", [](FileFacts&, MachineFacts& m) { m.nvidia_fs.loaded = absent_fact<bool>("x"); }},
        {"nvidia-fs-not-loaded", [](FileFacts&, MachineFacts& m) { m.nvidia_fs.loaded = unknown_fact<bool>("x", "EACCES"); }},
        {"nvidia-fs-nodes-missing", [](FileFacts&, MachineFacts& m) { m.nvidia_fs.device_nodes = absent_fact<bool>("x"); }},
        {"nvidia-fs-known-bad", [](FileFacts&, MachineFacts& m) { m.nvidia_fs.version = known_fact<std::string>("2.25.6", "x"); }},
        {"nvme-not-registered", [](FileFacts&, MachineFacts& m) { m.nvidia_fs.registered = known_fact(std::vector<std::string>{"nfs"}, "x"); }},
        {"overlay", [](FileFacts& f, MachineFacts&) { f.mount.value.file_system = "overlay"; }},
        {"filesystem-anonymous-device", [](FileFacts& f, MachineFacts&) { f.block.value.kind = BlockFacts::Kind::anonymous; }},
        {"filesystem-unsupported", [](FileFacts& f, MachineFacts&) { f.mount.value.file_system = "btrfs"; }},
        {"filesystem-unsupported", [](FileFacts& f, MachineFacts&) { f.mount = unknown_fact<MountFacts>("x", "y"); }},
        {"mount-data-mode", [](FileFacts& f, MachineFacts&) { f.mount.value.options = "rw,data=journal"; }},
        {"block-device-unsupported", [](FileFacts& f, MachineFacts&) { f.block.value.kind = BlockFacts::Kind::virtio; }},
        {"direct-open-refused", [](FileFacts& f, MachineFacts&) { f.direct_open = absent_fact<bool>("x"); }},
        {"udev-missing", [](FileFacts&, MachineFacts& m) { m.udev_database = absent_fact<bool>("x"); }},
        {"udev-record-missing", [](FileFacts& f, MachineFacts&) { f.udev_record = absent_fact<bool>("x"); }},
        {"udev-usage-missing", [](FileFacts& f, MachineFacts&) { f.udev_usage = absent_fact<std::string>("x"); }},
    };
    for (const Spoilt& spoilt : cases) {
        FileFacts file = direct_file();
        MachineFacts machine = direct_machine();
        spoilt.spoil(file, machine);
        const Route route = ask(CompatMode::automatic, gpu_question(), file, machine);
        EXPECT_EQ(route.engine, EngineKind::staged) << spoilt.id;
        EXPECT_EQ(route.reasons.front().id, spoilt.id);
        EXPECT_FALSE(route.reasons.front().text.empty());
    }
}

TEST(Conditions, ALibraryThatCufileLikelyLacksIsADoubtHereAndARefusalOnASavedMachine) {
    MachineFacts machine = direct_machine();
    machine.cufile.missing_dependencies = known_fact(std::vector<std::string>{"libx.so.1"}, "x");
    machine.root = "/";
    const Route here = ask(CompatMode::off, gpu_question(), direct_file(), machine);
    ASSERT_TRUE(here.doubt && !here.refused) << "the loader has the last word";
    EXPECT_EQ(here.doubt->id, "cufile-dependency-missing");
    machine.root = "/saved";
    EXPECT_EQ(ask(CompatMode::off, gpu_question(), direct_file(), machine).refused.value_or(Reason{}).id, "cufile-dependency-missing");
}

TEST(Conditions, P2pdmaIsFoundAndItsLacksAreNamedWhereItIsSwitchedOn) {
    MachineFacts machine = direct_machine();
    machine.nvidia_fs.loaded = absent_fact<bool>("x");
    machine.cufile.config.use_pci_p2pdma = true;
    machine.cufile.config.p2pdma_switches = {"block.nvme", "block.raid"};
    machine.p2pdma.kernel = known_fact(true, "x");
    machine.p2pdma.driver_static_bar = known_fact(true, "x");
    machine.p2pdma.nvme_multipath = known_fact(false, "x");
    EXPECT_EQ(ask(CompatMode::automatic, gpu_question(), direct_file(), machine).expected_path, Path::p2pdma);
    machine.p2pdma.nvme_multipath.value = true;
    EXPECT_EQ(first_reason(CompatMode::automatic, gpu_question(), direct_file(), machine), "p2pdma-multipath");
    machine.p2pdma.driver_static_bar = absent_fact<bool>("x");
    EXPECT_EQ(first_reason(CompatMode::automatic, gpu_question(), direct_file(), machine), "p2pdma-driver");
    FileFacts raid = direct_file();
    raid.block.value.kind = BlockFacts::Kind::md;
    machine.p2pdma.driver_static_bar = known_fact(true, "x");
    machine.p2pdma.nvme_multipath.value = false;
    EXPECT_EQ(first_reason(CompatMode::automatic, gpu_question(), raid, machine), "p2pdma-raid");
}

TEST(Conditions, P2pdmaNeedsTheSwitchOfTheFilesOwnKind) {
    MachineFacts machine = direct_machine();
    machine.nvidia_fs.loaded = absent_fact<bool>("x");
    machine.p2pdma.kernel = known_fact(true, "x");
    machine.p2pdma.driver_static_bar = known_fact(true, "x");
    machine.p2pdma.nvme_multipath = known_fact(false, "x");
    machine.cufile.config.use_pci_p2pdma = true;
    machine.cufile.config.p2pdma_switches = {"fs.nfs"};
    EXPECT_FALSE(find_direct_path(direct_file(), machine).path);
    machine.cufile.config.p2pdma_switches = {"block.nvme"};
    EXPECT_TRUE(find_direct_path(direct_file(), machine).path);
    FileFacts network = direct_file();
    network.mount.value.file_system = "nfs4";
    EXPECT_FALSE(find_direct_path(network, machine).path);
    machine.cufile.config.p2pdma_switches = {"fs.nfs"};
    EXPECT_TRUE(find_direct_path(network, machine).path);
    machine.cufile.config.p2pdma_switches = {};
    machine.cufile.config.p2pdma_needs_switch = false;  // 1.15
    EXPECT_TRUE(find_direct_path(direct_file(), machine).path);
}

TEST(Conditions, CufilesConfigurationThatItsDriverRefuses) {
    MachineFacts machine = direct_machine();
    machine.cufile.config.refused_values = "/etc/cufile.json:1:2: x is 5";
    EXPECT_EQ(first_reason(CompatMode::automatic, gpu_question(), direct_file(), machine), "cufile-json-bad-value");
    EXPECT_FALSE(driver_is_suspicious(machine));
    machine = direct_machine();
    machine.cufile.config.valid = false;
    EXPECT_EQ(first_reason(CompatMode::automatic, gpu_question(), direct_file(), machine), "cufile-json-invalid");
    machine.cufile.config.ends_process = true;
    EXPECT_TRUE(driver_is_suspicious(machine));
}

TEST(Suspicion, KnownHazardsAreTriedInAChild) {
    EXPECT_FALSE(driver_is_suspicious(direct_machine()));
    MachineFacts machine = direct_machine();
    machine.modules_readable = absent_fact<bool>("/proc/modules");
    EXPECT_TRUE(driver_is_suspicious(machine));
    machine = direct_machine();
    machine.nvidia_fs.device_nodes = absent_fact<bool>("/dev");
    EXPECT_TRUE(driver_is_suspicious(machine));
    machine.nvidia_fs.loaded = absent_fact<bool>("x");
    EXPECT_FALSE(driver_is_suspicious(machine));
}

TEST(Require, IsRefusedBeforeTheReadWhereTheRouteSaysNo) {
    RouteQuestion question = gpu_question();
    MachineFacts machine = direct_machine();
    machine.nvidia_fs.loaded = absent_fact<bool>("x");
    for (const Require require : {Require::direct, Require::nvidia_fs, Require::p2pdma, Require::cufile_posix, Require::host}) {
        question.require = require;
        const Route route = ask(CompatMode::automatic, question, direct_file(), machine);
        ASSERT_TRUE(route.refused) << to_text(require);
        EXPECT_EQ(route.refused->id, "require-not-met");
        EXPECT_NE(route.refused->text.find("nvidia-fs-not-loaded"), std::string::npos);
    }
    question.require = Require::staged;
    EXPECT_FALSE(ask(CompatMode::automatic, question, direct_file(), machine).refused);
    // cuFile chooses by itself under off: only its counters can say no.
    question.require = Require::direct;
    EXPECT_FALSE(ask(CompatMode::off, question, direct_file(), machine).refused);
}

TEST(PageCache, ColdFilesFillItWhereTheyFitAndGoAroundItWhereNot) {
    RouteQuestion question;
    question.size_bytes = 64 * kMiB;
    question.residency = {Residency::State::known, 64 * kMiB, 0, 0, "cachestat"};
    FileFacts file = direct_file();
    MachineFacts machine = direct_machine();
    Route route = ask(CompatMode::automatic, question, file, machine);
    EXPECT_EQ(route.page_cache, PageCacheUse::use);
    EXPECT_EQ(route.reasons.back().id, "page-cache-fill");
    machine.free_memory_bytes = file.size_bytes;
    route = ask(CompatMode::automatic, question, file, machine);
    EXPECT_EQ(route.page_cache, PageCacheUse::bypass);
    EXPECT_EQ(route.reasons.back().id, "page-cache-bypass");
    FileFacts refusing = file;
    refusing.direct_open = absent_fact<bool>("x");
    FileFacts coarse = file;
    coarse.direct_offset_align = known_fact<std::uint32_t>(1 << 20, "x");
    for (const auto& [facts, id] : {std::pair(&refusing, "direct-open-refused"), std::pair(&coarse, "direct-alignment-large")}) {
        route = ask(CompatMode::automatic, question, *facts, machine);
        EXPECT_EQ(route.page_cache, PageCacheUse::use) << id;
        EXPECT_EQ(route.reasons.back().id, id);
        for (const Reason& reason : route.reasons) {
            EXPECT_NE(reason.id, "page-cache-bypass") << "not what happens";
        }
    }
}

TEST(PageCache, IsChosenForReadsByCufileTooInCaseTheyAreStaged) {
    const RouteQuestion question = gpu_question();
    const FileFacts file = direct_file();
    MachineFacts machine = direct_machine();
    for (const std::uint64_t free_bytes : {4 * file.size_bytes, file.size_bytes}) {
        machine.free_memory_bytes = free_bytes;
        const Route by_cufile = ask(CompatMode::automatic, question, file, machine);
        const Route staged = ask(CompatMode::on, question, file, machine);
        ASSERT_EQ(by_cufile.engine, EngineKind::cufile);
        EXPECT_EQ(by_cufile.page_cache, staged.page_cache);
        ASSERT_EQ(by_cufile.reasons_if_staged.size(), 1U);
        EXPECT_EQ(by_cufile.reasons_if_staged.front().id, staged.reasons.back().id);
        EXPECT_EQ(by_cufile.reasons.size(), 1U) << "nothing of the page cache, which cuFile does not use";
    }
}

TEST(DirectWrite, IsForWritesThatAskForItToFilesThatTakeIt) {
    RouteQuestion question;
    question.size_bytes = 64 * kMiB;
    Settings settings = settings_of(CompatMode::on);
    FileFacts file = direct_file();
    const auto route = [&] { return choose_route(question, settings, file, direct_machine(), nullptr); };
    settings.direct_write.value = true;
    EXPECT_FALSE(route().direct_write) << "a read";
    question.direction = Direction::write;
    for (const bool to_gpu : {false, true}) {
        question.to_gpu = to_gpu;
        EXPECT_TRUE(route().direct_write);
        settings.direct_write.value = false;
        EXPECT_FALSE(route().direct_write);
        settings.direct_write.value = true;
    }
    FileFacts refusing = file;
    refusing.direct_open = absent_fact<bool>("x");
    FileFacts coarse = file;
    coarse.direct_memory_align = known_fact<std::uint32_t>(1 << 20, "x");
    for (const auto& [facts, id] :
         {std::pair(&refusing, "direct-open-refused"), std::pair(&coarse, "direct-alignment-large")}) {
        file = *facts;
        EXPECT_FALSE(route().direct_write) << id;
        EXPECT_EQ(route().reasons.back().id, id);
        EXPECT_NE(route().reasons.back().text.find("it is written through the page cache"), std::string::npos);
    }
}

TEST(DirectWrite, IsChosenForWritesByCufileTooInCaseTheyAreStaged) {
    RouteQuestion question = gpu_question();
    question.direction = Direction::write;
    Settings settings = settings_of(CompatMode::automatic);
    settings.direct_write.value = true;
    const GpuFacts gpu;
    const Route route = choose_route(question, settings, direct_file(), direct_machine(), &gpu);
    EXPECT_EQ(route.engine, EngineKind::cufile);
    EXPECT_TRUE(route.direct_write);
}

std::string told(const Route& route) {
    std::string text = std::string(to_text(route.engine)) + " " + std::string(to_text(route.expected_path)) + " " +
                       std::to_string(static_cast<int>(route.page_cache)) + (route.direct_write ? " direct-write" : "");
    for (const Reason& reason : route.reasons) {
        text += " " + reason.id + " " + reason.text;
    }
    return text + (route.refused ? " refused " + route.refused->id : "");
}

// What need not be gathered must not matter, for any question; and what is said to matter does for some.
TEST(FactsWanted, NamesAllThatTheAnswerDependsOn) {
    MachineFacts full = direct_machine();
    full.free_memory_bytes = 4096;
    std::uint32_t file_mattered = 0;
    std::uint32_t memory_mattered = 0;
    for (const bool to_gpu : {false, true}) {
        for (const Direction direction : {Direction::read, Direction::write}) {
            for (const std::uint64_t size : {std::uint64_t{4096}, kMiB, 64 * kMiB}) {
                for (const CompatMode mode : {CompatMode::automatic, CompatMode::on, CompatMode::off}) {
                    for (const PageCacheUse use : {PageCacheUse::automatic, PageCacheUse::use, PageCacheUse::bypass, PageCacheUse::direct}) {
                        for (const bool all_cached : {false, true}) {
                            const std::uint64_t cached = all_cached ? size : 0;
                            RouteQuestion question;
                            question.to_gpu = to_gpu;
                            question.direction = direction;
                            question.size_bytes = size;
                            question.residency = {Residency::State::known, size, cached, 0, "cachestat"};
                            Settings settings = settings_of(mode);
                            settings.page_cache.value = use;
                            settings.direct_write.value = all_cached;  // of writes, where the cache has no say
                            const FactsWanted wanted = facts_wanted(question, settings);
                            FileFacts refusing = direct_file();
                            refusing.direct_open = absent_fact<bool>("x");
                            refusing.mount.value.file_system = "btrfs";
                            const auto answer = [&](const FileFacts& file, const MachineFacts& machine) {
                                return told(choose_route(question, settings, file, machine, nullptr));
                            };
                            const std::string usual = answer(direct_file(), direct_machine());
                            const bool by_file = usual != answer(refusing, direct_machine()) || usual != answer({}, direct_machine());
                            const bool by_memory = usual != answer(direct_file(), full);
                            EXPECT_TRUE(wanted.file || !by_file) << usual;
                            EXPECT_TRUE(wanted.free_memory || !by_memory) << usual;
                            file_mattered += by_file ? 1 : 0;
                            memory_mattered += by_memory ? 1 : 0;
                        }
                    }
                }
            }
        }
    }
    EXPECT_GT(file_mattered, 0U);
    EXPECT_GT(memory_mattered, 0U);
}

TEST(FactsWanted, SmallAndCachedReadsWantNone) {
    Settings settings = settings_of(CompatMode::automatic);
    RouteQuestion question = gpu_question(4096);
    EXPECT_FALSE(facts_wanted(question, settings).file);
    question.to_gpu = false;
    question.size_bytes = 64 * kMiB;
    question.residency = {Residency::State::known, 64 * kMiB, 64 * kMiB, 0, "cachestat"};
    EXPECT_FALSE(facts_wanted(question, settings).file);
    EXPECT_FALSE(facts_wanted(question, settings).free_memory);
}

// check and the mover ask the same conditions of the same GPU.
TEST(Route, RegardsTheGpu) {
    GpuFacts gpu;
    gpu.present = known_fact(true, "x");
    gpu.driver = known_fact(true, "x");
    gpu.name = "NVIDIA GeForce RTX 4090";
    const Route route = choose_route(gpu_question(), settings_of(CompatMode::automatic), direct_file(), direct_machine(), &gpu);
    EXPECT_EQ(route.engine, EngineKind::staged);
    EXPECT_EQ(route.reasons.front().id, "gpu-class-unsupported");
}

TEST(Names, OfRequirementsAreReadBack) {
    for (const char* name : {"none", "direct", "nvidia-fs", "p2pdma", "cufile-posix", "staged", "host"}) {
        EXPECT_EQ(to_text(parse_require(name)), name);
    }
    EXPECT_THROW((void)parse_require("fast"), Error);
}

TEST(ARouteThatEndsTheProcess, IsRefusedWhereOnlyAReadWouldTell) {
    MachineFacts machine = direct_machine();
    machine.cufile.config.valid = false;
    machine.cufile.config.ends_process = true;
    const Route opening = ask(CompatMode::off, gpu_question(), direct_file(), machine);
    ASSERT_TRUE(opening.doubt) << "a child process opens the driver first, and has the last word";
    EXPECT_EQ(opening.doubt->id, "cufile-json-invalid");
    EXPECT_TRUE(opening.suspicious_driver);
    machine.cufile.config.ends_in_read = true;
    const Route reading = ask(CompatMode::off, gpu_question(), direct_file(), machine);
    ASSERT_TRUE(reading.refused);
    EXPECT_EQ(reading.refused->id, "cufile-json-invalid");
    EXPECT_EQ(ask(CompatMode::automatic, gpu_question(), direct_file(), machine).engine, EngineKind::staged);
}

}  // namespace
}  // namespace waybill
