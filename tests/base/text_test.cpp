#include "base/text.hpp"

#include <gtest/gtest.h>

namespace waybill {
namespace {

TEST(DurationText, HasNoExponentWhereThreeDigitsRoundUp) {
    EXPECT_EQ(duration_text(999), "999 ns");
    EXPECT_EQ(duration_text(999'499), "999 us");
    EXPECT_EQ(duration_text(999'500), "1 ms");
    EXPECT_EQ(duration_text(999'499'999), "999 ms");
    EXPECT_EQ(duration_text(999'500'000), "1.00 s");
    for (std::uint64_t ns = 1; ns < 10'000'000'000; ns = ns * 21 / 20 + 1) {
        EXPECT_EQ(duration_text(ns).find('e'), std::string::npos) << ns;
    }
}

TEST(Nearest, IsNoWordThatSharesNothing) {
    EXPECT_EQ(nearest("raed", {"read", "plan"}), "read");
    EXPECT_EQ(nearest("tasksize", {"task_size"}), "task_size");
    EXPECT_EQ(nearest("fly", {"read", "plan"}), "");
}

}  // namespace
}  // namespace waybill
