#include "waybill/plan.hpp"

#include <gtest/gtest.h>

#include <random>

#include "io/units.hpp"

namespace waybill {
namespace {

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kMiB = kKiB * kKiB;
constexpr std::uint64_t kGiB = kKiB * kMiB;

CufileConfig shipped() {
    CufileConfig config;
    config.file = "/etc/cufile.json";
    config.parallel_io = true;
    config.max_io_threads = 4;
    config.max_request_parallelism = 4;
    config.min_io_threshold_bytes = 8192 * kKiB;
    config.max_direct_io_bytes = 16 * kMiB;
    return config;
}

Plan plan_of(std::uint64_t size, std::uint64_t task, EngineKind engine) {
    Settings settings;
    settings.task_size.value = task;
    Route route;
    route.engine = engine;
    route.expected_path = engine == EngineKind::cufile ? Path::cufile_posix : Path::staged;
    CufileFacts cufile;
    cufile.config = shipped();
    return make_plan(route, size, settings, cufile);
}

TEST(Plan, TasksCoverTheRequestWithoutGapOrOverlap) {
    std::mt19937_64 random(7);
    for (int k = 0; k < 2000; ++k) {
        const std::uint64_t task = random() % (1 << 22) + 1;
        const std::uint64_t size = random() % (std::uint64_t{1} << 30);
        const Plan plan = plan_of(size, task, EngineKind::staged);
        std::uint64_t next = 0;
        for (std::uint64_t t = 0; t < std::min<std::uint64_t>(plan.tasks.count, 50); ++t) {
            EXPECT_EQ(task_at(plan, t).offset, next);
            next += task_at(plan, t).size_bytes;
        }
        if (size != 0) {
            const Task last = task_at(plan, plan.tasks.count - 1);
            EXPECT_EQ(last.offset + last.size_bytes, size);
            EXPECT_GE(last.size_bytes, 1U);
            EXPECT_LE(last.size_bytes, task);
        }
    }
}

TEST(Plan, TheWellKnownCounts) {
    EXPECT_EQ(plan_of(kGiB, 4 * kMiB, EngineKind::staged).tasks, (Shares{256, 4 * kMiB, 4 * kMiB}));
    EXPECT_EQ(plan_of(kGiB, kGiB, EngineKind::cufile).tasks.count, 1U);
    EXPECT_EQ(plan_of(0, 4 * kMiB, EngineKind::cufile).tasks.count, 0U);
    EXPECT_FALSE(plan_of(kGiB, 4 * kMiB, EngineKind::staged).pieces_per_task);
    const Plan large = plan_of(kGiB, kGiB, EngineKind::cufile);
    EXPECT_EQ(*large.pieces_per_task, (Shares{4, 256 * kMiB, 256 * kMiB}));
    EXPECT_EQ(large.device_reads, 64U);
}

TEST(Plan, ARegisteredDestinationIsSplitOtherwise) {
    Settings settings;
    settings.task_size.value = 9 * kMiB;
    Route route;
    route.engine = EngineKind::cufile;
    route.expected_path = Path::cufile_posix;
    CufileFacts cufile;
    cufile.config = shipped();
    cufile.version = known_fact(1200, "test");
    EXPECT_EQ(make_plan(route, 90 * kMiB, settings, cufile).pieces_total, 10U);
    const Plan registered = make_plan(route, 90 * kMiB, settings, cufile, {{}, true});
    EXPECT_EQ(registered.pieces_per_task, (Shares{2, 8 * kMiB, kMiB}));
    EXPECT_EQ(registered.pieces_total, 20U);
}

TEST(Plan, TellsWhatItsPiecesRestOn) {
    const auto basis = [](Fact<int> version, Path path, std::optional<int> loaded = {}) {
        Settings settings;
        settings.task_size.value = 4 * kMiB;
        Route route;
        route.engine = EngineKind::cufile;
        route.expected_path = path;
        CufileFacts cufile;
        cufile.version = std::move(version);
        return make_plan(route, kGiB, settings, cufile, {loaded, false}).basis;
    };
    const auto unknown = unknown_fact<int>("", "");
    EXPECT_EQ(basis(known_fact(1190, ""), Path::cufile_posix), PlanBasis::measured);
    EXPECT_EQ(basis(known_fact(1210, ""), Path::cufile_posix), PlanBasis::other_version);
    EXPECT_EQ(basis(known_fact(1140, ""), Path::cufile_posix), PlanBasis::other_version);
    EXPECT_EQ(basis(unknown, Path::cufile_posix), PlanBasis::unknown_version);
    EXPECT_EQ(basis(unknown, Path::cufile_posix, 1160), PlanBasis::measured);
    EXPECT_EQ(basis(known_fact(1190, ""), Path::nvidia_fs), PlanBasis::direct_path);
}

TEST(Plan, TheLastTaskHasPiecesOfItsOwn) {
    Settings settings;
    settings.task_size.value = 32 * kMiB;
    Route route;
    route.engine = EngineKind::cufile;
    CufileFacts cufile;
    cufile.config = shipped();
    const Plan plan = make_plan(route, 48 * kMiB, settings, cufile);
    EXPECT_EQ(plan.pieces_per_task->count, 4U);
    EXPECT_EQ(plan.pieces_of_last_task->count, 2U);
    EXPECT_EQ(plan.pieces_total, 6U);
    EXPECT_FALSE(make_plan(route, 64 * kMiB, settings, cufile).pieces_of_last_task);
}

TEST(Units, CoverTheRequestInOrderForAnySizes) {
    std::mt19937_64 random(11);
    for (int k = 0; k < 3000; ++k) {
        const std::uint64_t size = random() % (1 << 20);
        const std::uint64_t task = random() % (1 << 18) + 1;
        const std::uint64_t unit = random() % (1 << 18) + 1;
        const Units units(size, task, unit);
        std::uint64_t next = 0;
        for (std::uint64_t u = 0; u < units.count(); ++u) {
            const Task part = units.at(u);
            ASSERT_EQ(part.offset, next);
            ASSERT_GE(part.size_bytes, 1U);
            ASSERT_LE(part.size_bytes, unit);
            // A unit never crosses the border of a task.
            ASSERT_EQ(part.offset / task, (part.offset + part.size_bytes - 1) / task);
            next += part.size_bytes;
        }
        ASSERT_EQ(next, size);
    }
}

}  // namespace
}  // namespace waybill
