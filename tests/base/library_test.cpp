#include "base/library.hpp"

#include <gtest/gtest.h>

#include <string>

#include "no_descriptors.hpp"

namespace waybill {
namespace {

TEST(Library, OneThatIsMissingIsEmptyAndSaysSo) {
    const Library library = Library::load("libnowhere.so.9");
    EXPECT_FALSE(library);
    EXPECT_NE(library.problem().find("libnowhere.so.9"), std::string::npos) << library.problem();
}

TEST(Library, AWantOfDescriptorsIsNotOneOfALibrary) {
    const NoDescriptors none;
    try {
        (void)Library::load("libnowhere.so.9");
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::io_error);
        EXPECT_EQ(error.native().name, "EMFILE");
        EXPECT_EQ(std::string(error.what()).find("cannot open 'libnowhere.so.9': this process has as many files"), 0U);
    }
}

}  // namespace
}  // namespace waybill
