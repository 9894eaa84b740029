#include "route/join.hpp"

#include <gtest/gtest.h>

namespace waybill {
namespace {

Route route(EngineKind engine, Path path, PageCacheUse use = PageCacheUse::use) {
    Route route;
    route.engine = engine;
    route.expected_path = path;
    route.page_cache = use;
    route.cufile_direct_descriptor = path == Path::nvidia_fs;
    route.reasons = {{"some-reason", "x"}};
    return route;
}

TEST(Join, WhatGoesOneWayAnywayStaysSo) {
    const Route one = route(EngineKind::staged, Path::staged, PageCacheUse::bypass);
    const Route joined = join(one, one, "b");
    EXPECT_EQ(joined.engine, EngineKind::staged);
    EXPECT_EQ(joined.page_cache, PageCacheUse::bypass);
    ASSERT_EQ(joined.reasons.size(), 1U);
    EXPECT_EQ(joined.reasons.front().id, "some-reason");
}

TEST(Join, AFileThatIsStagedHasTheOthersStagedInEitherOrder) {
    const Route direct = route(EngineKind::cufile, Path::nvidia_fs);
    const Route staged = route(EngineKind::staged, Path::staged, PageCacheUse::bypass);
    for (const Route& joined : {join(direct, staged, "b"), join(staged, direct, "b")}) {
        EXPECT_EQ(joined.engine, EngineKind::staged);
        EXPECT_EQ(joined.expected_path, Path::staged);
        EXPECT_EQ(joined.page_cache, PageCacheUse::bypass);
        EXPECT_FALSE(joined.cufile_direct_descriptor);
        EXPECT_EQ(joined.reasons.front().id, "files-differ");
    }
}

TEST(Join, AFileThatCufileCannotServeKeepsTheOthersPageCacheUse) {
    const Route direct = route(EngineKind::cufile, Path::nvidia_fs, PageCacheUse::bypass);
    const Route staged = route(EngineKind::staged, Path::staged);
    EXPECT_EQ(join(direct, staged, "b").page_cache, PageCacheUse::bypass);
    EXPECT_EQ(join(staged, direct, "b").page_cache, PageCacheUse::bypass);
}

TEST(Join, CufileGetsDirectDescriptorsOnlyWhereEveryFileGoesDirect) {
    const Route direct = route(EngineKind::cufile, Path::nvidia_fs);
    const Route posix = route(EngineKind::cufile, Path::cufile_posix);
    EXPECT_TRUE(join(direct, direct, "b").cufile_direct_descriptor);
    for (const Route& joined : {join(direct, posix, "b"), join(posix, direct, "b")}) {
        EXPECT_FALSE(joined.cufile_direct_descriptor);
        EXPECT_EQ(joined.expected_path, Path::cufile_posix);
    }
}

TEST(Join, AFileThatGoesPastThePageCacheIsNotHeldBack) {
    const Route use = route(EngineKind::staged, Path::staged);
    const Route bypass = route(EngineKind::staged, Path::staged, PageCacheUse::bypass);
    EXPECT_EQ(join(use, bypass, "b").page_cache, PageCacheUse::bypass);
    EXPECT_EQ(join(bypass, use, "b").page_cache, PageCacheUse::bypass);
}

}  // namespace
}  // namespace waybill
