#include <elf.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "facts/block.hpp"
#include "facts/cufile_json.hpp"
#include "facts/cufile_library.hpp"
#include "facts/file.hpp"
#include "facts/limits.hpp"
#include "facts/machine.hpp"
#include "facts/mount.hpp"
#include "facts/nvidia_fs.hpp"
#include "waybill/facts.hpp"
#include "facts/udev.hpp"
#include "settings/resolve.hpp"
#include "waybill/route.hpp"

namespace waybill {
namespace {

// A folder that stands for a machine.
class SavedMachine : public ::testing::Test {
protected:
    void SetUp() override {
        char name[] = "/tmp/waybill_machine_XXXXXX";
        folder_ = ::mkdtemp(name);
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    void put(const std::string& path, const std::string& text) {
        const std::filesystem::path whole = folder_ / path.substr(1);
        std::filesystem::create_directories(whole.parent_path());
        std::ofstream(whole, std::ios::binary) << text;
    }
    void link(const std::string& path, const std::string& target) {
        const std::filesystem::path whole = folder_ / path.substr(1);
        std::filesystem::create_directories(whole.parent_path());
        std::filesystem::create_symlink(target, whole);
    }
    [[nodiscard]] MachineRoot root() const { return MachineRoot(folder_.string()); }
    std::filesystem::path folder_;
};

constexpr const char* kMounts =
    "22 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n"
    "30 22 0:27 / /dev/shm rw - tmpfs tmpfs rw\n"
    "40 22 259:2 /sub/path /data rw - ext4 /dev/nvme0n1p2 rw,data=ordered\n"
    "41 40 0:50 / /data/over\\040lay rw - overlay overlay rw,lowerdir=/a\n"
    "42 22 259:3 / /database rw - xfs /dev/nvme0n1p3 rw\n";

TEST_F(SavedMachine, AFilesMountIsFoundByComponentsNotByPrefix) {
    const auto mounts = parse_mounts(kMounts, "x");
    ASSERT_TRUE(mounts.known());
    ASSERT_EQ(mounts.value.size(), 5U);
    EXPECT_EQ(mount_of_path(mounts.value, "/data/x").value.id, 40);
    EXPECT_EQ(mount_of_path(mounts.value, "/data").value.id, 40);
    EXPECT_EQ(mount_of_path(mounts.value, "/database/x").value.id, 42);
    EXPECT_EQ(mount_of_path(mounts.value, "/data/over lay/x").value.file_system, "overlay");
    EXPECT_EQ(mount_of_path(mounts.value, "/etc/x").value.id, 22);
    EXPECT_EQ(mounts.value[2].root, "/sub/path");
    EXPECT_NE(mounts.value[2].options.find("data=ordered"), std::string::npos);
}

TEST_F(SavedMachine, OddMountTablesAreNoHarm) {
    for (const char* text : {"", "\n\n", "garbage", "1 2 3", "22 1 254:0 / / rw - ext4", "22 1 x:y / / rw - ext4 a b\n"}) {
        (void)parse_mounts(text, "x");
    }
    EXPECT_TRUE(mount_of_path({}, "/x").absent());
}

TEST_F(SavedMachine, TheBlockDeviceAndItsStackAreFound) {
    link("/sys/dev/block/259:2", "../../devices/pci0000:00/0000:01:00.0/nvme/nvme0/nvme0n1/nvme0n1p2");
    put("/sys/devices/pci0000:00/0000:01:00.0/nvme/nvme0/nvme0n1/nvme0n1p2/partition", "2\n");
    put("/sys/class/nvme/nvme0/transport", "pcie\n");
    const auto block = block_of_device(root(), {259, 2});
    ASSERT_TRUE(block.known());
    EXPECT_EQ(block.value.kind, BlockFacts::Kind::nvme);
    using Kind = BlockLayer::Kind;
    ASSERT_EQ(block.value.stack.size(), 2U);
    EXPECT_EQ(block.value.stack[0].name, "nvme0n1p2");
    EXPECT_EQ(block.value.stack[0].kind, Kind::partition);
    EXPECT_EQ(block.value.stack[1].name, "nvme0n1");
    EXPECT_EQ(block.value.stack[1].kind, Kind::nvme);
    EXPECT_EQ(block_of_device(root(), {0, 27}).value.kind, BlockFacts::Kind::anonymous);
    EXPECT_TRUE(block_of_device(root(), {8, 1}).absent());
}

TEST_F(SavedMachine, AMappedDeviceNamesItsMembers) {
    link("/sys/dev/block/253:0", "../../devices/virtual/block/dm-0");
    put("/sys/devices/virtual/block/dm-0/size", "1");
    put("/sys/class/block/dm-0/slaves/sda2/x", "");
    const auto block = block_of_device(root(), {253, 0});
    EXPECT_EQ(block.value.kind, BlockFacts::Kind::device_mapper);
    ASSERT_EQ(block.value.stack.size(), 3U);
    EXPECT_EQ(block.value.stack[0].name, "dm-0");
    EXPECT_EQ(block.value.stack[1].kind, BlockLayer::Kind::partition);
    EXPECT_EQ(block.value.stack[2].name, "sda");
    EXPECT_EQ(block.value.stack[2].kind, BlockLayer::Kind::scsi);
}

TEST_F(SavedMachine, UdevRecordsAreReadWithOrWithoutTheirUsage) {
    EXPECT_TRUE(read_udev_record(root(), {259, 2}).record.absent());
    put("/run/udev/data/b259:2", "S:x\nI:1\nE:ID_FS_TYPE=ext4\n");
    EXPECT_TRUE(read_udev_record(root(), {259, 2}).record.known());
    EXPECT_TRUE(read_udev_record(root(), {259, 2}).usage.absent());
    put("/run/udev/data/b259:2", "I:1\nE:ID_FS_USAGE=filesystem\n");
    EXPECT_TRUE(read_udev_record(root(), {259, 2}).usage.is("filesystem"));
}

TEST_F(SavedMachine, NvidiaFsShowsItselfInProc) {
    NvidiaFsFacts facts = read_nvidia_fs(root());
    EXPECT_TRUE(facts.loaded.absent());
    put("/proc/driver/nvidia-fs/version", "version: 2.27\n");
    put("/proc/driver/nvidia-fs/modules", "nvme: 3\nnfs: 1\n");
    put("/dev/null", "");
    facts = read_nvidia_fs(root());
    EXPECT_TRUE(facts.loaded.known());
    EXPECT_TRUE(facts.version.is("2.27"));
    EXPECT_EQ(facts.registered.value, (std::vector<std::string>{"nvme", "nfs"}));
    EXPECT_TRUE(facts.device_nodes.absent());
    put("/dev/nvidia-fs0", "");
    EXPECT_TRUE(read_nvidia_fs(root()).device_nodes.known());
}

TEST_F(SavedMachine, CufileJsonAndTheVariablesThatOverrideIt) {
    const Settings settings = resolve({}, {}, {});
    CufileConfig config = read_cufile_config(root(), settings, {}, std::nullopt);
    EXPECT_EQ(config.file, "");
    EXPECT_TRUE(config.allow_compat_mode);
    EXPECT_EQ(config.max_request_parallelism, 4U);
    EXPECT_EQ(read_cufile_config(root(), settings, {}, 1150).max_request_parallelism, 0U);
    EXPECT_FALSE(read_cufile_config(root(), settings, {{"CUFILE_ALLOW_COMPAT_MODE", "false"}}, 1160).allow_compat_mode);
    put("/etc/cufile.json", "{ // a comment\n\"execution\": {\"max_io_threads\": 8, \"min_io_threshold_size_kb\": 4096},\n"
                            "\"properties\": {\"allow_compat_mode\": false, \"use_pci_p2pdma\": true}, \"block\": {\"nvme\": {\"use_pci_p2pdma\": true}}}");
    config = read_cufile_config(root(), settings, {{"CUFILE_FORCE_COMPAT_MODE", "true"}, {"CUFILE_ALLOW_COMPAT_MODE", "true"}}, 1170);
    EXPECT_EQ(config.max_io_threads, 8U);
    EXPECT_EQ(config.min_io_threshold_bytes, 4096U * 1024);
    EXPECT_TRUE(config.force_compat_mode);
    EXPECT_FALSE(config.allow_compat_mode);  // 1.17 no longer knows that variable
    EXPECT_EQ(config.p2pdma_switches, std::vector<std::string>{"block.nvme"});
    EXPECT_EQ(config.max_request_parallelism, 4U);  // a key that the file leaves out is built in, not the shipped file's
    EXPECT_TRUE(read_cufile_config(root(), settings, {{"CUFILE_ALLOW_COMPAT_MODE", "true"}}, 1150).allow_compat_mode);
}

// Seen with libcufile 1.15 and 1.20.
TEST_F(SavedMachine, TheNamedFileLiesOverTheSystemsKeyByKey) {
    const Settings settings = resolve({}, {}, {});
    put("/etc/cufile.json", "{\"execution\": {\"max_io_threads\": 5, \"max_io_queue_depth\": 64}}");
    put("/own.json", "{\"execution\": {\"max_io_queue_depth\": 100}}");
    CufileConfig config = read_cufile_config(root(), settings, {{"CUFILE_ENV_PATH_JSON", "/own.json"}}, 1200);
    EXPECT_EQ(config.max_io_threads, 5U);
    EXPECT_EQ(config.max_io_queue_depth, 100U);
    EXPECT_EQ(config.files, (std::vector<std::string>{"/etc/cufile.json", "/own.json"}));
    config = read_cufile_config(root(), settings, {{"CUFILE_ENV_PATH_JSON", "/not/there.json"}}, 1200);
    EXPECT_EQ(config.missing_file, "/not/there.json");
    EXPECT_EQ(config.file, "/etc/cufile.json");
    put("/etc/cufile.json", "{ oops");
    config = read_cufile_config(root(), settings, {{"CUFILE_ENV_PATH_JSON", "/own.json"}}, 1200);
    EXPECT_FALSE(config.valid);
    EXPECT_NE(config.problem.find("/etc/cufile.json"), std::string::npos);
}

TEST_F(SavedMachine, AValueThatTheLibraryRefusesIsNoInvalidFile) {
    put("/etc/cufile.json", "{\"execution\": {\n  \"max_io_threads\": 33}}");
    const Settings settings = resolve({}, {}, {});
    const CufileConfig config = read_cufile_config(root(), settings, {}, 1150);
    EXPECT_TRUE(config.valid);
    EXPECT_EQ(config.refused_values, "/etc/cufile.json:2:3: execution.max_io_threads is 33; an integer from 0 to 32 is accepted");
    EXPECT_EQ(read_cufile_config(root(), settings, {}, 1160).refused_values, "");
}

// An ELF file of one segment, which holds `text`.
std::string elf_of(std::string_view text, std::uint32_t flags = PF_R) {
    Elf64_Ehdr head{};
    std::memcpy(head.e_ident, ELFMAG, SELFMAG);
    head.e_ident[EI_CLASS] = ELFCLASS64;
    head.e_phoff = sizeof head;
    head.e_phnum = 1;
    Elf64_Phdr segment{};
    segment.p_type = PT_LOAD;
    segment.p_flags = flags;
    segment.p_offset = sizeof head + sizeof segment;
    segment.p_filesz = text.size();
    std::string bytes(reinterpret_cast<const char*>(&head), sizeof head);
    bytes.append(reinterpret_cast<const char*>(&segment), sizeof segment);
    return bytes.append(text);
}

TEST_F(SavedMachine, ALibraryWithoutAVersionInItsNameNamesItWithin) {
    const std::string_view texts("\0ELF\0001.17\0001.17.1.22\0x", 21);
    put("/l/libcufile.so.0", elf_of(texts));
    EXPECT_TRUE(cufile_version_of(root(), "/l/libcufile.so.0").is(1170));
    const Settings settings = resolve({{{"cufile_library", "/l/libcufile.so.0"}}, {}}, {}, {});
    EXPECT_TRUE(gather_machine(root(), settings, {}).cufile.version.is(1170));
    // Wherever it stands, at the edge of what is read in one go too.
    for (const std::size_t before : {std::size_t{1}, (std::size_t{128} << 10) - 3, (std::size_t{128} << 10) - 70, std::size_t{300'000}}) {
        put("/l/libcufile.so.0", elf_of(std::string(before, 'x') + std::string(texts)));
        EXPECT_TRUE(cufile_version_of(root(), "/l/libcufile.so.0").is(1170)) << before;
    }
    for (const std::string& other : {elf_of(texts, PF_R | PF_X), elf_of({"\0001.2.3\0001.", 9}), elf_of(texts).substr(0, 100), std::string(texts)}) {
        put("/l/libcufile.so.0", other);
        EXPECT_TRUE(cufile_version_of(root(), "/l/libcufile.so.0").unknown());
    }
}

TEST_F(SavedMachine, NoTextOfCufileJsonIsTooOdd) {
    for (const char* text : {"", "[]", "{", "{\"execution\": 5}", "{\"execution\": {\"max_io_threads\": -1}}", "\xff\xfe", "null",
                             "{\"properties\": {\"allow_compat_mode\": \"yes\"}}", "{\"block\": {\"nvme\": 3}}"}) {
        (void)parse_cufile_config(text, "x");
    }
    EXPECT_FALSE(parse_cufile_config("{\n\n oops }", "x").valid);
    EXPECT_NE(parse_cufile_config("{\n\n oops }", "x").problem.find("line 3"), std::string::npos);
}

TEST_F(SavedMachine, TheLibraryIsFoundAndItsVersionReadFromItsName) {
    const Settings settings = resolve({}, {}, {});
    EXPECT_TRUE(find_cufile_library(root(), settings, {}).absent());
    put("/usr/local/cuda/lib64/libcufile.so.1.15.1", "");
    link("/usr/local/cuda/lib64/libcufile.so.0", "libcufile.so.1.15.1");
    const auto library = find_cufile_library(root(), settings, {});
    ASSERT_TRUE(library.known());
    EXPECT_TRUE(cufile_version_of(root(), library.value).is(1150));
    EXPECT_TRUE(cufile_version_of(root(), "/x/libcufile.so.0").unknown());
}

TEST_F(SavedMachine, MemoryIsFreeUnderTheLimitOfTheGroup) {
    put("/proc/meminfo", "MemTotal: 100 kB\nMemAvailable:    1048576 kB\n");
    EXPECT_EQ(free_memory_bytes(root()), 1ULL << 30);
    put("/proc/self/cgroup", "0::/a/b\n");
    put("/sys/fs/cgroup/a/memory.max", "104857600\n");
    put("/sys/fs/cgroup/a/memory.current", "4857600\n");
    put("/sys/fs/cgroup/a/b/memory.max", "max\n");
    put("/sys/fs/cgroup/a/b/memory.current", "5\n");
    EXPECT_EQ(free_memory_bytes(root()), 100000000U);
    put("/sys/fs/cgroup/a/b/cpu.max", "150000 100000\n");
    EXPECT_EQ(usable_cores(root()), 1U);
}

TEST_F(SavedMachine, AnEmptyMachineGathersWithoutComplaint) {
    const MachineFacts machine = gather_machine(root(), resolve({}, {}, {}), {});
    EXPECT_TRUE(machine.nvidia_fs.loaded.absent());
    EXPECT_TRUE(machine.udev_database.absent());
    const FileFacts file = gather_file(-1, "/data/x", root());
    EXPECT_FALSE(file.mount.known());
}

TEST_F(SavedMachine, ACompleteMachineHasADirectPath) {
    put("/proc/self/mountinfo", kMounts);
    put("/proc/modules", "nvidia_fs 1 0 - Live 0\n");
    link("/sys/dev/block/259:2", "../../devices/pci0000:00/0000:01:00.0/nvme/nvme0/nvme0n1/nvme0n1p2");
    put("/sys/devices/pci0000:00/0000:01:00.0/nvme/nvme0/nvme0n1/nvme0n1p2/partition", "2\n");
    put("/sys/class/nvme/nvme0/transport", "pcie\n");
    put("/run/udev/data/b259:2", "I:1\nE:ID_FS_USAGE=filesystem\n");
    put("/proc/driver/nvidia-fs/version", "version: 2.27\n");
    put("/proc/driver/nvidia-fs/modules", "nvme: 3\n");
    put("/dev/nvidia-fs0", "");
    put("/usr/local/cuda/lib64/libcufile.so.0", "");
    const Settings settings = resolve({}, {}, {});
    RouteQuestion question;
    question.to_gpu = true;
    question.size_bytes = 1 << 20;
    question.residency = {Residency::State::known, 1 << 20, 0, 0, "x"};
    const GpuFacts gpu;
    const auto route_of = [&](const char* path) {
        return choose_route(question, settings, gather_file(-1, path, root()), gather_machine(root(), settings, {}), &gpu);
    };
    EXPECT_EQ(route_of("/data/model.bin").expected_path, Path::nvidia_fs);
    EXPECT_EQ(route_of("/data/over lay/model.bin").reasons.front().id, "overlay");
    EXPECT_EQ(route_of("/dev/shm/model.bin").engine, EngineKind::staged);
    std::filesystem::remove(folder_ / "dev/nvidia-fs0");
    EXPECT_EQ(route_of("/data/model.bin").reasons.front().id, "nvidia-fs-nodes-missing");
    std::filesystem::remove_all(folder_ / "proc/driver");
    EXPECT_EQ(route_of("/data/model.bin").reasons.front().id, "nvidia-fs-not-loaded");
}

TEST(LiveMachine, AFilesFactsAreThereAndCheapTheSecondTime) {
    const int fd = ::open("/tmp", O_RDWR | O_TMPFILE, 0600);
    ASSERT_GE(fd, 0);
    const MachineRoot root;
    const FileFacts facts = gather_file(fd, "/tmp/x", root);
    EXPECT_TRUE(facts.mount.known());
    EXPECT_FALSE(facts.mount.value.file_system.empty());
    const auto start = std::chrono::steady_clock::now();
    for (int k = 0; k < 100; ++k) {
        (void)gather_file(fd, "/tmp/x", root);
    }
    const auto each = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - start).count() / 100;
    RecordProperty("microseconds_each", std::to_string(each));
    ::close(fd);
}

TEST(Residency, CountsCachedAndDirtyBytesOfARange) {
    const int fd = ::open("/tmp", O_RDWR | O_TMPFILE, 0600);
    const std::string text(3 * 4096 + 10, 'x');
    ASSERT_EQ(::write(fd, text.data(), text.size()), static_cast<ssize_t>(text.size()));
    const Residency residency = measure_residency(fd, 0, text.size());
    EXPECT_EQ(residency.state, Residency::State::known);
    EXPECT_EQ(residency.cached_bytes, text.size());
    EXPECT_GT(residency.dirty_bytes, 0U);
    ASSERT_EQ(::fdatasync(fd), 0);
    ASSERT_EQ(::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), 0);
    EXPECT_EQ(measure_residency(fd, 0, text.size()).cached_bytes, 0U);
    EXPECT_EQ(measure_residency(fd, 0, 0).state, Residency::State::known);
    EXPECT_EQ(measure_residency(-1, 0, 10).state, Residency::State::unknown);
    ::close(fd);
}

}  // namespace
}  // namespace waybill
