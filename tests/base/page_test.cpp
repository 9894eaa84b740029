// A kernel with pages of 64 KiB, played by wrapping two calls at link time.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>

#include "base/cachestat.hpp"
#include "base/page.hpp"
#include "waybill/facts.hpp"

namespace {

struct Counts {
    std::uint64_t cached;
    std::uint64_t dirty;
    std::uint64_t others[3];
};

}  // namespace

extern "C" long __wrap_sysconf(int /*name*/) { return 64 * 1024; }

// cachestat alone is called so: three pages are cached, one of them is dirty.
extern "C" long __wrap_syscall(long /*number*/, int /*fd*/, const void* /*range*/, Counts* counts, unsigned /*flags*/) {
    *counts = {3, 1, {}};
    return 0;
}

namespace waybill {
namespace {

TEST(Pages, AreAsLargeAsTheKernelSays) {
    EXPECT_EQ(page_bytes(), 64U * 1024);
    const auto counts = count_cached(0, 0, 1 << 20);
    ASSERT_TRUE(counts);
    EXPECT_EQ(counts->cached_bytes, 3U * 64 * 1024);
    EXPECT_EQ(counts->dirty_bytes, 64U * 1024);
    EXPECT_EQ(count_cached(0, 0, 100)->cached_bytes, 100U);
    // Four pages of which one is not there: never all, though the three hold more than the range does.
    EXPECT_EQ(count_cached(0, 65535, 2 * 65536 + 2)->cached_bytes, 2U * 65536 + 1);
    EXPECT_EQ(measure_residency(0, 0, 1 << 20).cached_bytes, 3U * 64 * 1024);
}

}  // namespace
}  // namespace waybill
