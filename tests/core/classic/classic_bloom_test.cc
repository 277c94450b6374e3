// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <random>
#include <tuple>

#include "blocksieve/hash.h"
#include "lib/bloom/blocked_bloom.h"
#include "lib/classic/container.h"
#include "tests/core/filter/test_filters.h"
#include "tests/support/statistics.h"

namespace blocksieve::testing {
namespace {

ClassicBloom MakeFilter(const Result<BloomLayout>& layout) {
  return Must(ClassicBloom::Create(Must(layout)));
}

ClassicBloom FilterOfKeys(const BloomLayout& layout, uint64_t begin, uint64_t end) {
  ClassicBloom filter = MakeFilter(layout);
  for (uint64_t i = begin; i < end; ++i) filter.Add(PresentKey(i));
  return filter;
}

TEST(BloomLayoutTest, TargetIsMetForEveryNumberOfKeys) {
  for (const double target : {kMaxTargetFpr, 0.3, 0.05, 0.01, 1e-3, 1e-5, kMinTargetFpr}) {
    for (uint64_t n = 1; n <= 1000; ++n) {
      const BloomLayout layout = *BloomLayout::ForKeys(n, target);
      EXPECT_EQ(layout.design_keys, n);
      EXPECT_LE(internal::BloomFprForKeys(layout.num_bits, n, layout.num_probes), target)
          << n << " keys at " << target;
    }
  }
}

TEST(BloomLayoutTest, ErrorsNameTheValueOutOfRange) {
  const auto message = [](const Result<BloomLayout>& layout) {
    EXPECT_EQ(layout.status().code(), StatusCode::kInvalidArgument);
    return layout.status().message();
  };
  EXPECT_EQ(message(BloomLayout::ForBits(0, 1)), "num_bits is 0; allowed: 1 to 34359737344");
  EXPECT_EQ(message(BloomLayout::ForBits(kMaxBloomBits + 1, 1)),
            "num_bits is 34359737345; allowed: 1 to 34359737344");
  EXPECT_EQ(message(BloomLayout::ForBits(8, 0)), "num_probes is 0; allowed: 1 to 32");
  EXPECT_EQ(message(BloomLayout::ForBits(8, 33)), "num_probes is 33; allowed: 1 to 32");
  // Eight times this number of bytes would wrap around.
  EXPECT_EQ(message(BloomLayout::ForBytes(uint64_t{1} << 61, 1)),
            "num_bytes is 2305843009213693952; allowed: 1 to 4294967168");
  EXPECT_EQ(message(BloomLayout::ForKeys(0, 0.01)), "num_keys is 0; allowed: 1 to 3581767907");
  EXPECT_EQ(message(BloomLayout::ForKeys(1, 1.0)), "target_fpr is 1; allowed: 1e-07 to 0.5");
  EXPECT_FALSE(BloomLayout::ForKeys(1, std::nan("")).ok());
  EXPECT_FALSE(ClassicBloom::Create({}).ok());
}

TEST(ClassicBloomTest, ContainsWhatWasAdded) {
  for (const uint64_t num_bits : {1, 2, 7, 8, 9, 63, 64, 65, 1000, 100'003}) {
    for (const uint32_t num_probes : {1u, 2u, 7u, 32u}) {
      ClassicBloom filter = MakeFilter(BloomLayout::ForBits(num_bits, num_probes, num_bits));
      EXPECT_FALSE(filter.MayContain(""));
      for (uint64_t i = 0; i < 50; ++i) {
        const bool was_contained = filter.MayContain(PresentKey(i));
        EXPECT_EQ(filter.Add(PresentKey(i)), !was_contained);
        for (uint64_t j = 0; j <= i; ++j) ASSERT_TRUE(filter.MayContain(PresentKey(j)));
      }
    }
  }
}

TEST(ClassicBloomTest, FiltersOfOneLayoutCombine) {
  const BloomLayout layout = *BloomLayout::ForKeys(2000, 0.01);
  const ClassicBloom second = FilterOfKeys(layout, 800, 2000);
  ClassicBloom united = FilterOfKeys(layout, 0, 1200);
  ASSERT_TRUE(united.UniteWith(second).ok());
  EXPECT_TRUE(Serialized(united) == Serialized(FilterOfKeys(layout, 0, 2000)));
  // design_keys does not change the bits.
  BloomLayout larger = layout;
  larger.design_keys = 100'000;
  EXPECT_TRUE(united.UniteWith(MakeFilter(larger)).ok());
}

TEST(ClassicBloomTest, FiltersOfDifferentLayoutsDoNotCombine) {
  const BloomLayout layout = *BloomLayout::ForBits(1000, 5, 1);
  for (const auto& [bits, hashes, seed] :
       {std::tuple{1001u, 5u, 1u}, {1000u, 6u, 1u}, {1000u, 5u, 2u}}) {
    ClassicBloom filter = FilterOfKeys(layout, 0, 1);
    const std::string before = Serialized(filter);
    const ClassicBloom other = MakeFilter(BloomLayout::ForBits(bits, hashes, seed));
    EXPECT_EQ(filter.UniteWith(other).code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(Serialized(filter), before);
  }
}

TEST(CardinalityTest, IsWithinItsErrorAtEveryFillAndSaysIfItIsAboveTheDesign) {
  for (const auto& [num_bits, num_probes] :
       {std::pair{1000u, 4u}, {100'000u, 7u}, {200'000u, 1u}}) {
    ClassicBloom filter = MakeFilter(BloomLayout::ForBits(num_bits, num_probes));
    const uint64_t design = filter.layout().design_keys;
    for (uint64_t n = 1; n <= 3 * design; ++n) {
      filter.Add(PresentKey(n));
      const CardinalityEstimate estimate = filter.EstimateCardinality();
      const Status status = filter.CheckFill();
      ASSERT_EQ(status.ok(), estimate.keys <= static_cast<double>(design)) << n;
      if (n % (design / 20) != 0) continue;
      const double error = estimate.keys - static_cast<double>(n);
      EXPECT_LE(std::abs(error), 4.5 * estimate.standard_error + 1) << n << " in " << num_bits;
      if (status.ok()) continue;
      EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
      EXPECT_NE(status.message().find("designed for " + std::to_string(design)), std::string::npos);
    }
  }
}

TEST(CardinalityTest, IsZeroWithoutBitsAndInfiniteWithAllBits) {
  ClassicBloom filter = MakeFilter(BloomLayout::ForBits(8, 8));
  EXPECT_EQ(filter.EstimateCardinality().keys, 0);
  EXPECT_EQ(filter.EstimateCardinality().standard_error, 0);
  for (uint64_t i = 0; i < 100; ++i) filter.Add(PresentKey(i));
  EXPECT_EQ(filter.num_set_cells(), 8u);
  EXPECT_EQ(filter.CurrentFpr(), 1);
  EXPECT_TRUE(std::isinf(filter.EstimateCardinality().keys));
  ClassicBloom one_bit = MakeFilter(BloomLayout::ForBits(1, 1));
  one_bit.Add(PresentKey(0));
  EXPECT_TRUE(std::isinf(one_bit.EstimateCardinality().keys));
  EXPECT_NE(filter.CheckFill().message().find("far too many"), std::string::npos);
  EXPECT_TRUE(ClassicBloom::Deserialize(AsBytes(Serialized(filter))).ok());
}

// Measured FPRs against the models, two-sided. Keys are consecutive numbers, which are frequent in
// storage engines.

uint64_t HashNumber(uint64_t number) {
  return HashKey({reinterpret_cast<const char*>(&number), sizeof(number)});
}

/// Relative standard deviation of the FPR of filters of n keys: k times that of the number of set
/// bits, which are bins hit by k n balls.
double FprSpread(double num_bits, double num_keys, double k) {
  const double load = k * num_keys / num_bits;
  const double variance = num_bits * (std::exp(-load) - std::exp(-2 * load) * (1 + load));
  return k * std::sqrt(variance) / (num_bits * -std::expm1(-load));
}

/// Expects the number of positives that `fpr` gives in `probes` probes of filters with this spread.
void ExpectPositives(uint64_t positives, double fpr, uint64_t num_probes, double spread) {
  const Interval expected = CountInterval(fpr * static_cast<double>(num_probes), spread);
  EXPECT_TRUE(expected.Contains(static_cast<double>(positives)))
      << positives << " not in " << expected;
}

// The table of textbooks on Bloom filters: P = (1 - e^(-kn/m))^k.
TEST(ClassicBloomFprTest, TextbookTableHolds) {
  constexpr uint64_t kKeys = 16'384;
  constexpr uint64_t kProbes = 100'000;
  std::vector<uint64_t> absent;
  for (uint64_t i = 0; i < kProbes; ++i) absent.push_back(HashNumber(i | uint64_t{1} << 63));
  for (uint32_t bits_per_key = 1; bits_per_key <= 32; ++bits_per_key) {
    for (const uint32_t k : {1u, 2u, 3u, 4u, 5u, 7u, 10u, 14u, 19u, 24u}) {
      const uint64_t num_bits = bits_per_key * kKeys;
      ClassicBloom filter = MakeFilter(BloomLayout::ForBits(num_bits, k));
      for (uint64_t i = 0; i < kKeys; ++i) filter.AddHash(HashNumber(i));
      uint64_t positives = 0;
      for (const uint64_t hash : absent) positives += filter.MayContainHash(hash);
      const double fpr = internal::ClassicBloomFpr(bits_per_key, k);
      const double spread = FprSpread(static_cast<double>(num_bits), kKeys, k);
      SCOPED_TRACE(::testing::Message() << "m/n = " << bits_per_key << ", k = " << k);
      ExpectPositives(positives, fpr, kProbes, spread);
      // If the probes are too few for a false positive, check the bits: P is (X/m)^k.
      EXPECT_NEAR(filter.CurrentFpr() / fpr, 1, 5 * spread + 0.001);
    }
  }
}

// The FPR depends on independent positions of a key. Few bits and many positions, where double
// hashing and its enhanced form have 3 and 1.1 times the model's FPR; and one key.
TEST(ClassicBloomFprTest, FewBitsHaveTheModelsRate) {
  constexpr uint64_t kProbesPerFilter = 1000;
  const uint64_t cases[][3] = {{64, 3, 15}, {128, 8, 11}, {1024, 50, 14}, {64, 6, 7},
                               {10, 1, 7},  {16, 1, 11},  {24, 1, 3},     {2, 1, 1}};
  for (const auto& [num_bits, num_keys, num_probes] : cases) {
    const auto k = static_cast<uint32_t>(num_probes);
    const uint64_t num_filters = num_keys == 1 ? 2000 : 5000;
    SCOPED_TRACE(::testing::Message() << num_bits << " bits, " << num_keys << " keys, k = " << k);
    const BloomLayout layout = *BloomLayout::ForBits(num_bits, k);
    uint64_t next = 0;
    uint64_t positives = 0;
    for (uint64_t round = 0; round < num_filters; ++round) {
      ClassicBloom filter = *ClassicBloom::Create(layout);
      for (uint64_t i = 0; i < num_keys; ++i) filter.AddHash(HashNumber(next++));
      for (uint64_t i = 0; i < kProbesPerFilter; ++i) {
        positives += filter.MayContainHash(HashNumber(next++));
      }
    }
    const double spread =
        num_keys == 1 ? 0.015
                      : FprSpread(static_cast<double>(num_bits), static_cast<double>(num_keys), k) /
                            std::sqrt(static_cast<double>(num_filters));
    ExpectPositives(positives, internal::BloomFprForKeys(num_bits, num_keys, k),
                    num_filters * kProbesPerFilter, spread + 0.005);
  }
}

using Pair = std::pair<uint32_t, uint32_t>;

/// (bits per key, hash functions); (0, 0) for an error.
Pair Choose(double target_fpr) {
  const Result<ClickHouseLayout> layout = clickhouse_best_practice(target_fpr);
  return layout.ok() ? Pair(layout->bits_per_key, layout->num_probes) : Pair(0, 0);
}

double JustBelow(double value) { return std::nextafter(value, 0.0); }

// As ClickHouse decides, except where its search leaves the row, or ends in a row that misses the
// target.
TEST(ClickHouseTableTest, DecidesAsClickHouseDoesOrMeetsTheTarget) {
  const std::pair<double, Pair> pinned[] = {
      {0.5, {2, 2}},
      {0.1, {5, 3}},
      {0.01, {10, 5}},
      {0.001, {15, 7}},
      {0.237, {3, 2}},
      {1.09e-4, {19, 13}},
      // Borders between rows, and between hash functions of a row.
      {0.4, {2, 2}},
      {0.393, {2, 1}},
      {JustBelow(0.393), {3, 1}},
      {0.283, {3, 1}},
      {JustBelow(0.283), {3, 2}},
      {0.23, {4, 1}},
      {0.221, {4, 1}},
      {JustBelow(0.221), {4, 2}},
      {1e-4, {20, 10}},
      {8.89e-5, {20, 10}},
      {6.71e-5, {20, 14}},
      // (2, 2), (19, 13) and (19, 13) in ClickHouse.
      {JustBelow(0.4), {2, 1}},
      {JustBelow(0.237), {4, 1}},
      {JustBelow(1.09e-4), {20, 9}},
  };
  for (const auto& [target_fpr, expected] : pinned) {
    EXPECT_EQ(Choose(target_fpr), expected) << target_fpr;
  }
  for (const double target_fpr :
       {JustBelow(6.71e-5), 0.0, -0.1, 1.1, std::numeric_limits<double>::infinity(),
        std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_EQ(Choose(target_fpr), Pair(0, 0)) << target_fpr;
  }
  EXPECT_EQ(clickhouse_best_practice(1e-5).status().message(),
            "target_fpr is 1e-05; allowed: 6.71e-05 to 1");
}

TEST(ClickHouseTableTest, MeetsEveryTargetButForTheThirdDigit) {
  for (double target_fpr = 6.71e-5; target_fpr <= 1; target_fpr *= 1.0003) {
    const Result<ClickHouseLayout> layout = clickhouse_best_practice(target_fpr);
    ASSERT_TRUE(layout.ok()) << target_fpr;
    EXPECT_LE(internal::ClassicBloomFpr(layout->bits_per_key, layout->num_probes),
              1.005 * target_fpr);
  }
}

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
