#include <gtest/gtest.h>

#include "base/text.hpp"
#include "waybill/error.hpp"
#include "waybill/settings.hpp"

namespace waybill {
namespace {

TEST(ParseSize, UnderstandsUnits) {
    EXPECT_EQ(parse_size("12", "x"), 12U);
    EXPECT_EQ(parse_size("4MiB", "x"), 4U << 20);
    EXPECT_EQ(parse_size("16K", "x"), 16384U);
    EXPECT_EQ(parse_size("16 kib", "x"), 16384U);
    EXPECT_EQ(parse_size("1GB", "x"), 1000000000U);
    EXPECT_EQ(parse_size("3G", "x"), 3221225472U);
    EXPECT_EQ(parse_size("18446744073709551615", "x"), ~std::uint64_t{0});
}

TEST(ParseSize, RefusesEverythingElseAndNamesIt) {
    for (const char* text : {"", "-1", "1e6", "0x10", "16MiBs", "4 apples", "1.5GiB", "18446744073709551616", "16777216T"}) {
        try {
            (void)parse_size(text, "task_size");
            ADD_FAILURE() << text;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
            EXPECT_NE(std::string(error.what()).find("task_size"), std::string::npos);
        }
    }
}

TEST(ExactSizeText, IsReadBackByParseSize) {
    for (const std::uint64_t bytes : {0ULL, 1ULL, 1024ULL, 4097ULL, 4ULL << 20, 3ULL << 30, ~0ULL}) {
        EXPECT_EQ(parse_size(exact_size_text(bytes), "x"), bytes);
    }
}

TEST(Nearest, FindsTheWordThatWasMeant) {
    EXPECT_EQ(nearest("tasksize", {"task_size", "num_threads"}), "task_size");
    EXPECT_EQ(nearest("zebra", {"task_size", "num_threads"}), "");
}

}  // namespace
}  // namespace waybill
