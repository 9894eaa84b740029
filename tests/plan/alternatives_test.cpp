#include "plan/alternatives.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/picture.hpp"
#include "plan/slow_shapes.hpp"
#include "plan/threads.hpp"

namespace waybill {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kGiB = 1024 * kMiB;

// A read through cuFile's compatibility mode with NVIDIA's shipped keys.
struct Case {
    Settings settings;
    Route route;
    CufileFacts cufile;
    CufileUse use;

    Case() {
        settings.task_size.value = 4 * kMiB;
        settings.bounce_buffer_size.value = 4 * kMiB;
        settings.pinned_limit.value = 128 * kMiB;
        route.engine = EngineKind::cufile;
        route.expected_path = Path::cufile_posix;
        cufile.version = known_fact(1200, "test");
        cufile.config.file = "/etc/cufile.json";
        cufile.config.parallel_io = true;
        cufile.config.max_io_threads = 4;
        cufile.config.max_request_parallelism = 4;
        cufile.config.min_io_threshold_bytes = 8 * kMiB;
        cufile.config.max_direct_io_bytes = 16 * kMiB;
    }
    Plan plan(std::uint64_t size) const { return make_plan(route, size, settings, cufile, use); }
    std::vector<Alternative> alternatives(std::uint64_t size) const {
        return list_alternatives(plan(size), route, settings, cufile, use);
    }
    std::vector<std::string> slow(std::uint64_t size, ShapeQuestion question = {}) const {
        std::vector<std::string> ids;
        for (const Reason& shape : list_slow_shapes(plan(size), route, settings, cufile, use, question)) {
            ids.push_back(shape.id);
        }
        return ids;
    }
};

const Alternative* find(const std::vector<Alternative>& all, const std::string& setting, const std::string& value) {
    for (const Alternative& one : all) {
        if (one.setting == setting && one.value == value) {
            return &one;
        }
    }
    return nullptr;
}

TEST(Alternatives, TellWhatAnotherTaskSizeWouldGive) {
    const auto all = Case().alternatives(kGiB);
    const Alternative* const larger = find(all, "task_size", "16MiB");
    ASSERT_NE(larger, nullptr);
    EXPECT_EQ(larger->plan.tasks.count, 64U);
    EXPECT_EQ(larger->plan.pieces_per_task->count, 2U);
    EXPECT_EQ(larger->plan.pieces_total, 128U);
    EXPECT_NE(find(all, "task_size", "1GiB"), nullptr);
    EXPECT_EQ(find(all, "task_size", "4MiB"), nullptr) << "what is so already is no change";
}

TEST(Alternatives, TellOfKeysAndOfRegistrationOnlyWhereTheyMatter) {
    Case one;
    one.settings.task_size.value = 9 * kMiB;
    const auto all = one.alternatives(9 * kMiB);
    ASSERT_NE(find(all, "registered", "true"), nullptr);
    EXPECT_EQ(find(all, "registered", "true")->plan.pieces_total, 2U);
    EXPECT_NE(find(all, "execution.min_io_threshold_size_kb", "2048"), nullptr);
    EXPECT_EQ(find(Case().alternatives(kGiB), "registered", "true"), nullptr);
    one.cufile.config.parallel_io = false;
    one.settings.task_size.value = 36 * kMiB;
    EXPECT_NE(find(one.alternatives(9 * kMiB * 4), "execution.parallel_io", "true"), nullptr);
    one.route.engine = EngineKind::staged;
    for (const Alternative& other : one.alternatives(kGiB)) {
        EXPECT_EQ(other.setting, "task_size");
    }
    EXPECT_TRUE(one.alternatives(0).empty());
}

TEST(SlowShapes, OfPiecesThatBeginInsideABlock) {
    Case one;
    one.settings.task_size.value = kGiB;
    using testing::Contains;
    using testing::Not;
    EXPECT_THAT(one.slow(64 * kMiB + 4096), Contains("unaligned-pieces"));
    EXPECT_THAT(one.slow(64 * kMiB), Not(Contains("unaligned-pieces")));
    EXPECT_THAT(one.slow(64 * kMiB, {777, 1}), Contains("unaligned-offset"));
    one.use.registered = true;
    EXPECT_THAT(one.slow(64 * kMiB + 4096), Not(Contains("unaligned-pieces")));
    one.settings.task_size.value = 4 * kMiB + 1;
    EXPECT_THAT(one.slow(64 * kMiB), Contains("unaligned-tasks"));
}

TEST(SlowShapes, OfOnePiece) {
    using testing::Contains;
    Case one;
    one.cufile.config.max_request_parallelism = 0;
    one.settings.task_size.value = kGiB;
    EXPECT_THAT(one.slow(kGiB), Contains("one-piece"));
}

TEST(SlowShapes, OfStagingWithSmallCopiesOrOneThread) {
    using testing::ElementsAre;
    Case one;
    one.route.engine = EngineKind::staged;
    EXPECT_THAT(one.slow(kGiB, {0, 12}), ElementsAre());
    EXPECT_THAT(one.slow(kGiB, {0, 1}), ElementsAre("one-thread"));
    EXPECT_THAT(one.slow(kMiB, {0, 1}), ElementsAre());
    one.settings.bounce_buffer_size.value = 64 * 1024;
    EXPECT_THAT(one.slow(kGiB, {0, 12}), ElementsAre("small-copies"));
}

TEST(Threads, FollowTheSettingTheSizeAndTheCores) {
    Case one;
    EXPECT_EQ(choose_threads({EngineKind::staged, Direction::read, kGiB, 1, 16}, one.settings), 12U);
    EXPECT_EQ(choose_threads({EngineKind::staged, Direction::read, 4096, 1, 16}, one.settings), 1U);
    EXPECT_EQ(choose_threads({EngineKind::staged, Direction::write, kGiB, 1, 16}, one.settings), 2U);
    EXPECT_EQ(choose_threads({EngineKind::staged, Direction::write, kGiB, 1, 16, true}, one.settings), 12U);
    one.settings.num_threads.value = 40;
    EXPECT_EQ(choose_threads({EngineKind::cufile, Direction::read, kGiB, 1, 16}, one.settings), 40U);
    EXPECT_EQ(choose_threads({EngineKind::staged, Direction::read, kGiB, 1, 16}, one.settings), 16U) << "two pinned slots a thread";
}

TEST(Threads, OfStagingAloneAreBoundedByPinnedMemory) {
    Case one;
    one.settings.pinned_limit.value = 4 * kMiB;
    one.settings.bounce_buffer_size.value = kMiB;
    const auto threads = [&](EngineKind engine) {
        return choose_threads({engine, Direction::read, kGiB, 1, 16}, one.settings);
    };
    EXPECT_EQ(threads(EngineKind::staged), 2U);
    EXPECT_EQ(threads(EngineKind::host), 16U);
    EXPECT_EQ(threads(EngineKind::cufile), 12U);
    one.settings.num_threads.value = 9;
    EXPECT_EQ(threads(EngineKind::staged), 2U);
    EXPECT_EQ(threads(EngineKind::host), 9U);
}

TEST(Picture, DrawsEveryShareOrTheFirstAndTheLast) {
    EXPECT_EQ(draw({}), "[]");
    const std::string two = draw({2, 8 * kMiB, 4 * kMiB});
    EXPECT_EQ(two.substr(0, 2), "[1");
    EXPECT_GT(two.find("|2"), two.size() - two.find("|2")) << "the larger share has the wider box: " << two;
    const std::string many = draw({256, 4 * kMiB, 4 * kMiB});
    EXPECT_THAT(many, testing::HasSubstr("|5"));
    EXPECT_THAT(many, testing::Not(testing::HasSubstr("|6")));
    EXPECT_THAT(many, testing::HasSubstr("... |256"));
    EXPECT_LE(many.size(), 80U);
}

}  // namespace
}  // namespace waybill
