// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "tests/core/filter/test_filters.h"

namespace blocksieve::testing {
namespace {

CountingBloom MakeFilter(const Result<BloomLayout>& layout, uint32_t counter_bits) {
  return Must(CountingBloom::Create(Must(layout), counter_bits));
}

using CountingBloomLayoutsTest = ::testing::TestWithParam<uint32_t>;  // bits per counter

INSTANTIATE_TEST_SUITE_P(Bits, CountingBloomLayoutsTest, ::testing::Values(2, 4, 8, 16),
                         [](const auto& info) { return std::to_string(info.param); });

// At any time, answers equal those of a classic filter of the remaining keys.
TEST_P(CountingBloomLayoutsTest, AgreesWithTheFilterOfTheRemainingKeys) {
  const BloomLayout layout = *BloomLayout::ForBits(4099, 4, 9);
  CountingBloom filter = MakeFilter(layout, GetParam());
  std::mt19937_64 random(GetParam());
  std::map<uint64_t, uint64_t> left;
  for (int step = 0; step < 6000; ++step) {
    const uint64_t key = random() % 400;
    if (random() % 2 == 0) {
      filter.Add(PresentKey(key));
      ++left[key];
    } else if (left.contains(key)) {
      ASSERT_TRUE(filter.Remove(PresentKey(key)));
      if (--left[key] == 0) left.erase(key);
    }
    if (step % 500 != 0) continue;
    ClassicBloom expected = *ClassicBloom::Create(layout);
    for (const auto& [present, count] : left) expected.Add(PresentKey(present));
    const ClassicBloom projection = *filter.Project();
    EXPECT_EQ(projection.num_set_cells(), filter.num_set_cells());
    for (uint64_t i = 0; i < 2000; ++i) {
      const bool answer = filter.MayContain(KeyNumber(i));
      ASSERT_EQ(projection.MayContain(KeyNumber(i)), answer) << i;
      // Stuck counters give more positives: answers are exact until the first counter sticks.
      if (filter.num_stuck_counters() == 0) {
        ASSERT_EQ(expected.MayContain(KeyNumber(i)), answer) << i;
      } else {
        ASSERT_LE(expected.MayContain(KeyNumber(i)), answer) << i;
      }
    }
  }
  if (GetParam() >= 8) {
    EXPECT_EQ(filter.num_stuck_counters(), 0u) << "nothing was compared exactly";
  }
}

TEST_P(CountingBloomLayoutsTest, SaturatedCountersStick) {
  CountingBloom filter = MakeFilter(BloomLayout::ForBits(1000, 5), GetParam());
  const uint64_t max_count = filter.max_count();
  for (uint64_t i = 1; i <= max_count + 5; ++i) {
    filter.Add("key");
    if (i < 1000 || i >= max_count) {
      EXPECT_EQ(filter.EstimateCount("key"), std::min(i, max_count));
    }
  }
  EXPECT_EQ(filter.EstimateCount("other"), 0u);
  EXPECT_GT(filter.num_stuck_counters(), 0u);
  // Any number of removals: other keys may share the counters.
  for (uint64_t i = 0; i < 3 * max_count; ++i) EXPECT_TRUE(filter.Remove("key"));
  EXPECT_EQ(filter.EstimateCount("key"), max_count);
}

TEST_P(CountingBloomLayoutsTest, NeverWrapsBelowZero) {
  CountingBloom filter = MakeFilter(BloomLayout::ForBits(1000, 5), GetParam());
  EXPECT_FALSE(filter.Remove("never added"));
  filter.Add("once");
  const std::string before = Serialized(filter);
  EXPECT_FALSE(filter.Remove("never added"));
  EXPECT_TRUE(Serialized(filter) == before) << "a refused removal changed it";
  EXPECT_TRUE(filter.Remove("once"));
  EXPECT_FALSE(filter.Remove("once"));
  EXPECT_EQ(filter.num_set_cells(), 0u);
}

// With few counters, positions of a key coincide. It must still count once.
TEST_P(CountingBloomLayoutsTest, CoincidingPositionsCountOnce) {
  for (const uint64_t num_counters : {1, 2, 3, 10}) {
    CountingBloom filter = MakeFilter(BloomLayout::ForBits(num_counters, 32), GetParam());
    filter.Add("a");
    EXPECT_EQ(filter.EstimateCount("a"), 1u);
    filter.Add("a");
    EXPECT_EQ(filter.EstimateCount("a"), 2u);
    EXPECT_TRUE(filter.Remove("a"));
    EXPECT_TRUE(filter.Remove("a"));
    EXPECT_EQ(filter.num_set_cells(), 0u);
  }
}

TEST(CountingBloomTest, EstimatesItsCardinalityAsKeysComeAndGo) {
  const uint64_t n = 200'000;
  CountingBloom filter = MakeFilter(BloomLayout::ForKeys(n, 0.01), 4);
  EXPECT_TRUE(filter.CheckFill().ok());
  for (uint64_t i = 0; i < n + n / 10; ++i) filter.Add(PresentKey(i));
  EXPECT_EQ(filter.CheckFill().code(), StatusCode::kResourceExhausted);
  for (uint64_t i = 0; i < n / 2; ++i) ASSERT_TRUE(filter.Remove(PresentKey(i)));
  EXPECT_TRUE(filter.CheckFill().ok());
  const double left = 0.6 * static_cast<double>(n);
  const CardinalityEstimate estimate = filter.EstimateCardinality();
  EXPECT_NEAR(estimate.keys, left, 4.5 * estimate.standard_error);
  EXPECT_NEAR(estimate.keys, left, 0.005 * left);
  EXPECT_EQ(filter.num_stuck_counters(), 0u);
  const double fill =
      static_cast<double>(filter.num_set_cells()) / static_cast<double>(filter.layout().num_bits);
  EXPECT_DOUBLE_EQ(filter.CurrentFpr(), std::pow(fill, filter.layout().num_probes));
}

TEST(CountingBloomTest, ErrorsNameTheValueOutOfRange) {
  const BloomLayout layout = *BloomLayout::ForBits(1000, 5);
  for (const uint32_t counter_bits : {0u, 1u, 3u, 5u, 32u}) {
    const Status status = CountingBloom::Create(layout, counter_bits).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(status.message(),
              "counter_bits is " + std::to_string(counter_bits) + "; allowed: 2, 4, 8 or 16");
  }
  const Status status = CountingBloom::Create(*BloomLayout::ForBits(kMaxBloomBits, 5)).status();
  EXPECT_EQ(status.message(),
            "num_bits is 34359737344; allowed: 1 to 8589934336 for counters of 4 bits");
}

}  // namespace
}  // namespace blocksieve::testing
