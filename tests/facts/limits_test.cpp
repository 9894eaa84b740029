#include "facts/limits.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <string>

namespace waybill {
namespace {

// A folder that stands for a machine with these texts.
class Machine {
public:
    explicit Machine(const std::map<std::string, std::string>& texts) {
        char name[] = "/tmp/waybill_limits_XXXXXX";
        folder_ = ::mkdtemp(name);
        for (const auto& [path, text] : texts) {
            std::filesystem::create_directories((folder_ + path).substr(0, (folder_ + path).rfind('/')));
            std::ofstream(folder_ + path) << text;
        }
    }
    ~Machine() { std::filesystem::remove_all(folder_); }
    Machine(const Machine&) = delete;
    Machine& operator=(const Machine&) = delete;
    [[nodiscard]] MachineRoot root() const { return MachineRoot(folder_); }

private:
    std::string folder_;
};

constexpr const char* kMemory = "MemTotal: 9000 kB\nMemAvailable:    4000 kB\n";

TEST(Limits, AGroupAndItsParentsLeaveTheLeast) {
    const Machine machine({{"/proc/meminfo", kMemory},
                           {"/proc/self/cgroup", "0::/a/b\n"},
                           {"/sys/fs/cgroup/a/memory.max", "2000000\n"},
                           {"/sys/fs/cgroup/a/memory.current", "500000\n"},
                           {"/sys/fs/cgroup/a/b/memory.max", "max\n"},
                           {"/sys/fs/cgroup/a/b/memory.current", "400000\n"}});
    EXPECT_EQ(free_memory_bytes(machine.root()), 1500000U);
}

TEST(Limits, AGroupLineThatIsNotUnderstoodIsNoError) {
    for (const char* line : {"0::odd\n", "0::\n", "::\n", "x\n", "1:memory:odd\n0::odd/below\n"}) {
        const Machine machine({{"/proc/meminfo", kMemory}, {"/proc/self/cgroup", line}});
        EXPECT_EQ(free_memory_bytes(machine.root()), 4000U * 1024) << line;
        EXPECT_EQ(usable_cores(machine.root()), 1U) << line;
    }
}

TEST(Limits, SoftLimitsAreRead) {
    const std::string limits = "Limit                     Soft Limit           Hard Limit           Units\n"
                               "Max locked memory         unlimited            unlimited            bytes\n"
                               "Max open files            256                  524288               files\n";
    const Machine machine(std::map<std::string, std::string>{{"/proc/self/limits", limits}});
    EXPECT_TRUE(soft_limit(machine.root(), "Max open files").is(256));
    EXPECT_TRUE(soft_limit(machine.root(), "Max locked memory").is(std::numeric_limits<std::uint64_t>::max()));
    EXPECT_TRUE(soft_limit(machine.root(), "Max other").absent());
}

TEST(Limits, SharedMemoryOfASavedMachineIsTheOptionOfItsMount) {
    const auto of = [](const std::string& line) {
        const Machine machine(std::map<std::string, std::string>{{"/proc/self/mountinfo", "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n" + line}});
        return shared_memory_bytes(machine.root());
    };
    EXPECT_TRUE(of("2 1 0:41 / /dev/shm rw - tmpfs shm rw,size=65536k,inode64\n").is(std::uint64_t{64} << 20));
    EXPECT_TRUE(of("2 1 0:41 / /dev/shm rw - tmpfs shm rw\n").unknown());
    EXPECT_TRUE(of("2 1 0:41 / /dev/shm rw - tmpfs shm rw,size=99999999999999999999k\n").unknown());
    EXPECT_TRUE(of("").absent());
}

TEST(Limits, SharedMemoryOfThisMachineIsAsked) {
    EXPECT_EQ(shared_memory_bytes(MachineRoot()).known(), std::filesystem::exists("/dev/shm"));
}

}  // namespace
}  // namespace waybill
