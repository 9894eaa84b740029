#include "waybill/error.hpp"

#include <gtest/gtest.h>

#include <set>

#include "base/fd.hpp"

namespace waybill {
namespace {

TEST(Error, EveryCodeHasAWordOfItsOwnAndAnExitCode) {
    std::set<std::string_view> words;
    for (int number = 0; number <= static_cast<int>(ErrorCode::internal); ++number) {
        const auto code = static_cast<ErrorCode>(number);
        EXPECT_TRUE(words.insert(to_text(code)).second) << to_text(code);
        EXPECT_NE(exit_code(code), 0);
    }
}

TEST(Error, NamesTheNativeCode) {
    const Error error(ErrorCode::io_error, "cannot read /x", native_errno(5));
    EXPECT_STREQ(error.what(), "cannot read /x [EIO 5]");
    EXPECT_EQ(error.native().value, 5);
}

}  // namespace
}  // namespace waybill
