#include "base/leftover.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include "no_descriptors.hpp"

namespace waybill {
namespace {

std::string new_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "waybill-leftover-XXXXXX").string();
    return ::mkdtemp(name.data()) != nullptr ? name : std::string();
}

TEST(Leftover, AFolderHoweverDeepIsRemovedWithOneDescriptorLeft) {
    std::optional<Leftover> leftover(std::in_place, Leftover::Kind::folder, new_folder);
    const std::filesystem::path path = leftover->path();
    std::filesystem::path folder = path;
    for (int depth = 0; depth < 30; ++depth) {
        folder /= "deeper";
        std::filesystem::create_directory(folder);
        std::ofstream(folder / "file") << depth;
        std::filesystem::create_symlink("/", folder / "link");
    }
    {
        Fd last = open_descriptor("/dev/null", O_RDONLY);
        const NoDescriptors none;
        last.reset();
        leftover.reset();
    }
    EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace waybill
