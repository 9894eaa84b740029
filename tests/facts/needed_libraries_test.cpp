#include "facts/needed_libraries.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace waybill {
namespace {

std::string this_program() {
    const MachineRoot live;
    return live.read("/proc/self/exe", std::size_t{256} << 20).value;
}

bool has(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

TEST(NeededLibraries, AreReadFromTheHeader) {
    const NeededLibraries needed = needed_libraries(this_program());
    EXPECT_TRUE(has(needed.names, "libc.so.6"));
    EXPECT_TRUE(has(needed.names, "libstdc++.so.6"));
}

TEST(NeededLibraries, AFileThatIsCutShortOrNoneOfElfsTellsNothingAndDoesNoHarm) {
    EXPECT_TRUE(needed_libraries("").names.empty());
    EXPECT_TRUE(needed_libraries("#!/bin/sh\n").names.empty());
    const std::string whole = this_program();
    for (std::size_t size = 1; size < whole.size(); size = size * 3 / 2 + 1) {
        (void)needed_libraries(std::string_view(whole).substr(0, size));
    }
    // Bytes of the head, one by one, made nonsense.
    for (std::size_t at = 4; at < 512; ++at) {
        std::string broken = whole.substr(0, 65536);
        broken[at] = static_cast<char>(0xff);
        (void)needed_libraries(broken);
    }
}

TEST(NeededLibraries, WhatIsNotWhereTheLoaderLooksIsNamed) {
    char name[] = "/tmp/waybill_needed_XXXXXX";
    const std::filesystem::path folder = ::mkdtemp(name);
    std::filesystem::create_directories(folder / "lib");
    std::ofstream(folder / "lib/libx.so", std::ios::binary) << this_program();
    const MachineRoot root(folder.string());
    EXPECT_TRUE(missing_libraries(root, "/lib/libx.so", {"/lib"}).unknown()) << "not even libc: the loader looks elsewhere";
    std::ofstream(folder / "lib/libc.so.6") << "";
    const auto missing = missing_libraries(root, "/lib/libx.so", {"/lib"});
    ASSERT_TRUE(missing.known());
    EXPECT_TRUE(has(missing.value, "libstdc++.so.6"));
    EXPECT_FALSE(has(missing.value, "libc.so.6"));
    for (const std::string& each : missing.value) {
        std::ofstream(folder / "lib" / each) << "";
    }
    EXPECT_TRUE(missing_libraries(root, "/lib/libx.so", {"/lib"}).absent());
    std::filesystem::remove_all(folder);
}

// The process has libstdc++, wherever from: a folder with libc alone lacks nothing that counts here.
TEST(NeededLibraries, WhatTheProcessHasLoadedIsNotMissing) {
    char name[] = "/tmp/waybill_needed_XXXXXX";
    const std::filesystem::path folder = ::mkdtemp(name);
    std::ofstream(folder / "libx.so", std::ios::binary) << this_program();
    std::ofstream(folder / "libc.so.6") << "";
    EXPECT_TRUE(missing_libraries(MachineRoot(), folder / "libx.so", {folder.string()}).absent());
    std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace waybill
