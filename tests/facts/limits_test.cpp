#include "facts/limits.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <string>

namespace {

int kernel_cpus = 0;  // of a kernel that lets this process run on all of them; 0: the one that is here

}  // namespace

extern "C" {
int __real_sched_getaffinity(pid_t pid, std::size_t size_bytes, cpu_set_t* mask);

// sched_getaffinity(2): EINVAL where the mask has less room than the kernel has CPUs.
int __wrap_sched_getaffinity(pid_t pid, std::size_t size_bytes, cpu_set_t* mask) {
    if (kernel_cpus == 0) {
        return __real_sched_getaffinity(pid, size_bytes, mask);
    }
    if (size_bytes * 8 < static_cast<std::size_t>(kernel_cpus)) {
        errno = EINVAL;
        return -1;
    }
    CPU_ZERO_S(size_bytes, mask);
    for (int cpu = 0; cpu < kernel_cpus; ++cpu) {
        CPU_SET_S(cpu, size_bytes, mask);
    }
    return 0;
}
}

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

TEST(Limits, TheLeastCpuQuotaOfAGroupAndItsParentsCounts) {
    const auto of = [](const char* top, const char* parent, const char* own) {
        const Machine machine({{"/proc/self/cgroup", "0::/a/b\n"}, {"/sys/fs/cgroup/cpu.max", top}, {"/sys/fs/cgroup/a/cpu.max", parent}, {"/sys/fs/cgroup/a/b/cpu.max", own}});
        return cores_under_quotas(machine.root());
    };
    EXPECT_EQ(of("max 100000\n", "250000 100000\n", "max 100000\n"), 3U);
    EXPECT_EQ(of("200000 100000\n", "800000 100000\n", "max 100000\n"), 2U);
    EXPECT_EQ(of("max 100000\n", "800000 100000\n", "400000 100000\n"), 4U);
    EXPECT_EQ(of("18446744073709551615 1\n", "max 100000\n", "odd\n"), std::numeric_limits<std::uint64_t>::max());
    EXPECT_EQ(of("max 100000\n", "5 0\n", ""), std::nullopt);
}

TEST(Limits, TheLeastCpuQuotaOfAVersion1GroupAndItsParentsCounts) {
    const auto of = [](const char* top, const char* own) {
        const Machine machine({{"/proc/self/cgroup", "5:memory:/m\n4:cpu,cpuacct:/a/b\n0::/\n"},
                               {"/sys/fs/cgroup/cpu/cpu.cfs_quota_us", top},
                               {"/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"},
                               {"/sys/fs/cgroup/cpu/a/b/cpu.cfs_quota_us", own},
                               {"/sys/fs/cgroup/cpu/a/b/cpu.cfs_period_us", "50000\n"}});
        return cores_under_quotas(machine.root());
    };
    EXPECT_EQ(of("-1\n", "125000\n"), 3U);
    EXPECT_EQ(of("200000\n", "400000\n"), 2U);
    EXPECT_EQ(of("-1\n", "-1\n"), std::nullopt);
}

TEST(Limits, MoreCpusThanAPlainMaskHoldsAreCounted) {
    for (const int cpus : {1, 1024, 1025, 5000}) {
        kernel_cpus = cpus;
        EXPECT_EQ(usable_cores(MachineRoot()), std::min<std::uint64_t>(cpus, cores_under_quotas(MachineRoot()).value_or(cpus)));
    }
    kernel_cpus = 0;
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
