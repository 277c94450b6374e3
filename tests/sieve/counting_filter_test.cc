#include "integration/sieve/sieve_shard.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/sieve/test_sieve.h"

namespace blocksieve::testing {
namespace {

CountingBloom FilterOf(uint64_t design_urls, uint64_t num_urls) {
  CountingBloom filter = *CountingBloom::Create(sieve::CountingFilterLayout(design_urls));
  for (uint64_t i = 0; i < num_urls; ++i) filter.Add(TestUrl(i));
  return filter;
}

TEST(CountingFilter, TakesFourFifthsOfABitPerUrl) {
  EXPECT_EQ(8 * FilterOf(1'000'000, 0).memory_bytes(), 800'000u);
}

TEST(CountingFilter, CountsWithinItsErrorAtDesignSize) {
  const uint64_t n = 2'000'000;
  const CountingBloom filter = FilterOf(n, n);
  const CardinalityEstimate estimate = filter.EstimateCardinality();
  EXPECT_NEAR(estimate.keys, static_cast<double>(n), 4.5 * estimate.standard_error);
  // 5.3 sqrt(n), see kUrlsPerCounter
  EXPECT_NEAR(estimate.standard_error / std::sqrt(static_cast<double>(n)), 5.3, 0.1);
  // One in 4,000 saturates.
  EXPECT_NEAR(static_cast<double>(filter.num_stuck_counters()), 400'000 / 4400.0, 50);
}

TEST(CountingFilter, RecognisesAThirdOfNewUrlsAtAFifthOfItsSize) {
  const uint64_t n = 1'000'000;
  const CountingBloom filter = FilterOf(n, n / 5);
  uint64_t denied = 0;
  for (uint64_t i = 0; i < 100'000; ++i) denied += !filter.MayContain(TestUrl(n + i));
  EXPECT_NEAR(static_cast<double>(denied) / 100'000, std::exp(-1), 0.01);
}

}  // namespace
}  // namespace blocksieve::testing
