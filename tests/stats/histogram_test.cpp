#include "stats/histogram.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

namespace waybill {
namespace {

TEST(Histogram, BucketsFollowOneAnotherWithoutAGapOrAnOverlap) {
    for (std::size_t bucket = 0; bucket + 1 < kHistogramBuckets; ++bucket) {
        const std::uint64_t end = histogram_end_ns(bucket);
        ASSERT_EQ(histogram_bucket(end), bucket) << end;
        ASSERT_EQ(histogram_bucket(end + 1), bucket + 1) << end;
    }
    EXPECT_EQ(histogram_bucket(0), 0U);
    EXPECT_EQ(histogram_bucket(~std::uint64_t{0}), kHistogramBuckets - 1);
}

TEST(Histogram, ABucketIsNoWiderThanASixteenthOfItsValues) {
    for (std::size_t bucket = 1; bucket + 1 < kHistogramBuckets; ++bucket) {
        const std::uint64_t start = histogram_end_ns(bucket - 1) + 1;
        ASSERT_LE((histogram_end_ns(bucket) - start) * 16, start) << bucket;
    }
}

TEST(Histogram, QuantilesAreThoseOfTheValuesToASixteenth) {
    std::mt19937_64 random(7);
    std::lognormal_distribution<double> latency(11.0, 1.5);
    std::vector<std::uint64_t> values;
    std::vector<std::uint64_t> counts(kHistogramBuckets);
    for (int k = 0; k < 20'000; ++k) {
        values.push_back(static_cast<std::uint64_t>(latency(random)));
        ++counts[histogram_bucket(values.back())];
    }
    std::sort(values.begin(), values.end());
    for (const double part : {0.5, 0.9, 0.99, 0.999}) {
        const std::uint64_t right = values[static_cast<std::size_t>(part * 20'000) - 1];
        const std::uint64_t told = histogram_quantile_ns(counts, part, values.back());
        EXPECT_GE(told, right) << part;
        EXPECT_LE(told, right + right / 16 + 1) << part;
    }
    EXPECT_EQ(histogram_quantile_ns(counts, 1.0, values.back()), values.back());
}

TEST(Histogram, NothingCountedIsZeroAndOneValueIsItself) {
    std::vector<std::uint64_t> counts(kHistogramBuckets);
    EXPECT_EQ(histogram_quantile_ns(counts, 0.99, 5), 0U);
    counts[histogram_bucket(1'000'003)] = 1;
    EXPECT_EQ(histogram_quantile_ns(counts, 0.5, 1'000'003), 1'000'003U);
}

TEST(Histogram, ValuesPastTheLastBucketAreToldByTheMaximum) {
    std::vector<std::uint64_t> counts(kHistogramBuckets);
    const std::uint64_t hours = std::uint64_t{7200} * 1'000'000'000;
    counts[histogram_bucket(hours)] = 1;
    EXPECT_EQ(histogram_quantile_ns(counts, 0.5, hours), hours);
}

}  // namespace
}  // namespace waybill
