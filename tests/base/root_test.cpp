#include "base/root.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "no_descriptors.hpp"

namespace waybill {
namespace {

class MachineRootTest : public ::testing::Test {
protected:
    void SetUp() override {
        char name[] = "/tmp/waybill_root_XXXXXX";
        folder_ = ::mkdtemp(name);
        std::filesystem::create_directories(folder_ / "proc");
        std::ofstream(folder_ / "proc/version") << "Linux 6\n";
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    std::filesystem::path folder_;
};

TEST_F(MachineRootTest, ReadsBelowTheRoot) {
    const MachineRoot root(folder_.string());
    EXPECT_FALSE(root.is_live());
    EXPECT_EQ(root.read("/proc/version").value, "Linux 6\n");
    EXPECT_TRUE(root.read("/proc/modules").absent());
    EXPECT_EQ(root.list("/proc").value, std::vector<std::string>{"version"});
}

TEST_F(MachineRootTest, NeverLeavesTheRoot) {
    std::filesystem::create_symlink("/etc/hostname", folder_ / "proc/absolute");
    std::filesystem::create_symlink("../../../../../../etc/hostname", folder_ / "proc/relative");
    const MachineRoot root(folder_.string());
    EXPECT_TRUE(root.read("/proc/absolute").absent());
    EXPECT_TRUE(root.read("/proc/relative").absent());
    EXPECT_TRUE(root.read("/../../etc/hostname").absent());
    EXPECT_EQ(root.link("/proc/absolute").value, "/etc/hostname");
}

TEST_F(MachineRootTest, AFifoDoesNotBlockAndALargeFileIsCut) {
    ASSERT_EQ(::mkfifo((folder_ / "proc/fifo").c_str(), 0600), 0);
    const MachineRoot root(folder_.string());
    EXPECT_EQ(root.read("/proc/fifo").value, "");
    EXPECT_EQ(root.read("/proc/version", 5).value, "Linux");
}

TEST_F(MachineRootTest, WithoutADescriptorNothingIsTakenForMissing) {
    const MachineRoot root(folder_.string());
    const MachineRoot live;
    const NoDescriptors none;
    for (const MachineRoot* each : {&root, &live}) {
        EXPECT_THROW((void)each->read("/proc/version"), Error);
        EXPECT_THROW((void)each->list("/proc"), Error);
        EXPECT_THROW((void)each->exists("/proc/version"), Error);
        EXPECT_THROW((void)each->link("/proc/version"), Error);
    }
}

TEST(MachineRoot, AMissingFolderIsABadSetting) {
    try {
        const MachineRoot root("/nowhere/at/all");
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::bad_setting);
    }
}

TEST(MachineRoot, TheLiveRootReadsTheMachine) {
    EXPECT_TRUE(MachineRoot("/").read("/proc/self/mountinfo").known());
}

}  // namespace
}  // namespace waybill
