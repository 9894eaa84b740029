#include "check/place_rules.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "check/findings.hpp"

namespace waybill {
namespace {

struct Place {
    FileFacts file;
    MachineFacts machine;
    GpuFacts gpu;
    SurroundingFacts surroundings;

    [[nodiscard]] std::optional<Finding> ask(std::string_view id) const {
        const auto rule = std::find_if(rules().begin(), rules().end(), [&](const Rule& each) { return each.id == id; });
        return rule == rules().end() ? std::nullopt : apply(*rule, {file, machine, gpu, surroundings});
    }
};

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

TEST(PlaceRules, ALowLimitIsTold) {
    struct Case {
        const char* id;
        Fact<std::uint64_t> SurroundingFacts::* limit;
        std::uint64_t enough;
        const char* says;
    };
    const Case cases[] = {{"memlock-low", &SurroundingFacts::memlock_bytes, 8 * kMiB, "locked memory"},
                          {"shared-memory-low", &SurroundingFacts::shared_memory_bytes, 64 * kMiB, "/dev/shm"},
                          {"open-files-low", &SurroundingFacts::open_files, 1024, "1023 files"}};
    for (const Case& each : cases) {
        Place place;
        EXPECT_FALSE(place.ask(each.id)) << each.id << ": an unknown limit is no finding";
        place.surroundings.*each.limit = known_fact(each.enough, "here");
        EXPECT_FALSE(place.ask(each.id)) << each.id;
        (place.surroundings.*each.limit).value = std::numeric_limits<std::uint64_t>::max();
        EXPECT_FALSE(place.ask(each.id)) << each.id << ": no limit";
        (place.surroundings.*each.limit).value = each.enough - 1;
        const auto finding = place.ask(each.id);
        ASSERT_TRUE(finding) << each.id;
        EXPECT_EQ(finding->severity, Severity::note);
        EXPECT_EQ(finding->source, "here");
        EXPECT_NE(finding->seen.find(each.says), std::string::npos) << finding->seen;
        EXPECT_FALSE(finding->fix.empty());
    }
}

TEST(PlaceRules, AnUncertainOrderOfGpusIsTold) {
    Place place;
    place.surroundings.gpus.resize(2);
    EXPECT_FALSE(place.ask("device-order-unknown"));
    place.surroundings.order_uncertain = true;
    const auto finding = place.ask("device-order-unknown");
    ASSERT_TRUE(finding);
    EXPECT_NE(finding->seen.find("of 2 GPUs"), std::string::npos);
    EXPECT_NE(finding->fix.find("PCI_BUS_ID"), std::string::npos);
}

TEST(PlaceRules, AVirtualMachineIsToldWithItsName) {
    Place place;
    EXPECT_FALSE(place.ask("virtual-machine"));
    place.surroundings.virtual_machine = absent_fact<std::string>("/proc/cpuinfo");
    EXPECT_FALSE(place.ask("virtual-machine"));
    place.surroundings.virtual_machine = known_fact<std::string>("KVM", "/proc/cpuinfo");
    const auto finding = place.ask("virtual-machine");
    ASSERT_TRUE(finding);
    EXPECT_NE(finding->seen.find("KVM"), std::string::npos);
    EXPECT_EQ(finding->source, "/proc/cpuinfo");
}

}  // namespace
}  // namespace waybill
