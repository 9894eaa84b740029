#include "route/fallback.hpp"

#include <gtest/gtest.h>

namespace waybill {
namespace {

Route by_cufile() {
    Route route;
    route.engine = EngineKind::cufile;
    route.expected_path = Path::nvidia_fs;
    route.cufile_direct_descriptor = true;
    route.reasons = {{"direct-possible", "a path exists"}};
    route.doubt = Reason{"udev-missing", "no database"};
    return route;
}

TEST(Fallback, IsForAutoAloneAndNotWhereAPathIsRequired) {
    Settings settings;
    settings.compat_mode.value = CompatMode::automatic;
    EXPECT_TRUE(may_fall_back(by_cufile(), settings, Require::none));
    for (const Require require : {Require::direct, Require::nvidia_fs, Require::p2pdma, Require::cufile_posix, Require::staged}) {
        EXPECT_FALSE(may_fall_back(by_cufile(), settings, require)) << to_text(require);
    }
    settings.compat_mode.value = CompatMode::off;
    EXPECT_FALSE(may_fall_back(by_cufile(), settings, Require::none));
    settings.compat_mode.value = CompatMode::automatic;
    Route staged = by_cufile();
    staged.engine = EngineKind::staged;
    EXPECT_FALSE(may_fall_back(staged, settings, Require::none));
}

TEST(Fallback, UsesThePageCacheAsAStagedReadWouldAndSaysWhy) {
    Route route = by_cufile();
    route.page_cache = PageCacheUse::bypass;
    route.reasons_if_staged = {{"page-cache-bypass", "it does not fit"}};
    const Route staged = fall_back(route, {"cufile-refused", "no"});
    EXPECT_EQ(staged.page_cache, PageCacheUse::bypass);
    EXPECT_EQ(staged.reasons.back().id, "page-cache-bypass");
    EXPECT_TRUE(staged.reasons_if_staged.empty());
}

TEST(Fallback, StagesWithItsReasonBeforeTheOthers) {
    const Route route = fall_back(by_cufile(), {"cufile-failed", "reading failed"});
    EXPECT_EQ(route.engine, EngineKind::staged);
    EXPECT_EQ(route.expected_path, Path::staged);
    EXPECT_FALSE(route.cufile_direct_descriptor);
    EXPECT_FALSE(route.doubt);
    ASSERT_EQ(route.reasons.size(), 2U);
    EXPECT_EQ(route.reasons[0].id, "cufile-failed");
    EXPECT_EQ(route.reasons[1].id, "direct-possible");
}

}  // namespace
}  // namespace waybill
