#include "lib/bloom/bloom_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "blocksieve/bloom.h"
#include "blocksieve/hash.h"
#include "blocksieve/sizing.h"
#include "tests/support/statistics.h"

// The models against published values, and against other ways to compute them. FilterConformance
// measures filters of every kind.

namespace blocksieve::testing {
namespace {

using internal::BlockedBloomFpr;
using internal::BlockedBloomFprForKeys;
using internal::BloomFprForKeys;
using internal::ClassicBloomFpr;

void ExpectRatio(double actual, double expected, double tolerance) {
  EXPECT_NEAR(actual / expected, 1, tolerance) << actual << " for " << expected;
}

TEST(BloomModel, KnownRatesOfBothKinds) {
  struct Known {
    double bits_per_key;
    double classic;  // with the best k
    double blocked;
    uint32_t blocked_probes;
  };
  for (const auto& [bits_per_key, classic, blocked, blocked_probes] :
       {Known{5, 9.19e-2, 9.31e-2, 3}, Known{8, 2.16e-2, 2.33e-2, 5},
        Known{10, 8.19e-3, 9.67e-3, 6}, Known{12, 3.14e-3, 4.14e-3, 8},
        Known{16, 4.59e-4, 8.44e-4, 9}, Known{20, 6.71e-5, 1.98e-4, 11}}) {
    ExpectRatio(internal::BestLayout(FilterKind::kClassicBloom, bits_per_key).predicted_fpr,
                classic, 0.002);
    const Layout best = internal::BestLayout(FilterKind::kBlockedBloom, bits_per_key);
    ExpectRatio(best.predicted_fpr, blocked, 0.002);
    EXPECT_EQ(best.num_probes, blocked_probes);
  }
}

TEST(BloomModel, ExtremeSizes) {
  EXPECT_EQ(ClassicBloomFpr(1e-6, 1), 1);
  EXPECT_NEAR(BlockedBloomFpr(1e-6, 1), 1, 1e-9);
  EXPECT_NEAR(BlockedBloomFpr(0.01, 32), 1, 1e-9);
  EXPECT_NEAR(BlockedBloomFpr(1e12, 1) / 1e-12, 1, 1e-9);
  EXPECT_EQ(BlockedBloomFpr(std::numeric_limits<double>::infinity(), 6), 0);
  EXPECT_EQ(BloomFprForKeys(512, 0, 6), 0);
  EXPECT_EQ(BlockedBloomFprForKeys(7, 0, 6), 0);
  EXPECT_EQ(BloomFprForKeys(1, 1, 6), 1);
}

/// E[(X/m)^k] from the distribution of the number X of set bits.
double FprByOccupancy(uint32_t num_bits, uint32_t num_keys, uint32_t num_probes) {
  std::vector<double> set(num_bits + 1);
  set[0] = 1;
  for (uint32_t thrown = 0; thrown < num_keys * num_probes; ++thrown) {
    for (uint32_t x = num_bits; x > 0; --x) {
      set[x] = (set[x] * x + set[x - 1] * (num_bits - x + 1)) / num_bits;
    }
    set[0] = 0;
  }
  double fpr = 0;
  for (uint32_t x = 0; x <= num_bits; ++x) {
    fpr += set[x] * std::pow(static_cast<double>(x) / num_bits, num_probes);
  }
  return fpr;
}

TEST(BloomModel, AgreesWithOccupancyDistribution) {
  for (const uint32_t num_bits : {8u, 64u, 512u}) {
    for (const uint32_t num_keys : {1u, 2u, 13u, 60u}) {
      for (const uint32_t num_probes : {1u, 2u, 6u, 11u, 16u}) {
        ExpectRatio(BloomFprForKeys(num_bits, num_keys, num_probes),
                    FprByOccupancy(num_bits, num_keys, num_probes), 1e-11);
      }
    }
  }
}

TEST(BloomModel, ManyKeysReachTheLimit) {
  for (const uint32_t num_probes : {1u, 6u, 16u}) {
    ExpectRatio(BlockedBloomFprForKeys(10'000'000, 512'000'000, num_probes),
                BlockedBloomFpr(10, num_probes), 1e-5);
    ExpectRatio(BloomFprForKeys(1'000'000, 100'000, num_probes), ClassicBloomFpr(10, num_probes),
                0.001);
  }
}

// ClickHouse's table.

using Pair = std::pair<uint32_t, uint32_t>;

/// (bits per key, hash functions); (0, 0) for an error.
Pair Choose(double target_fpr) {
  const Result<ClickHouseLayout> layout = clickhouse_best_practice(target_fpr);
  return layout.ok() ? Pair(layout->bits_per_key, layout->num_probes) : Pair(0, 0);
}

double JustBelow(double value) { return std::nextafter(value, 0.0); }

TEST(ClickHouseTable, DecidesAsClickHouseDoes) {
  const std::pair<double, Pair> pinned[] = {
      {0.8, {2, 2}},
      {0.5, {2, 2}},
      {0.282, {3, 2}},
      {0.2, {4, 2}},
      {0.1, {5, 3}},
      {0.05, {7, 3}},
      {0.025, {8, 4}},
      {0.01, {10, 5}},
      {0.001, {15, 7}},
      {0.0012, {14, 10}},
      {0.237, {3, 2}},
      {1.09e-4, {19, 13}},
      // Borders between rows, and between hash functions of a row.
      {1, {2, 2}},
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
  };
  for (const auto& [target_fpr, expected] : pinned) {
    EXPECT_EQ(Choose(target_fpr), expected) << target_fpr;
  }
}

// Targets at which ClickHouse's search leaves the row, or ends in a row that misses the target.
TEST(ClickHouseTable, MeetsTheTargetWhereClickHouseDoesNot) {
  EXPECT_EQ(Choose(JustBelow(0.4)), Pair(2, 1));       // (2, 2) in ClickHouse
  EXPECT_EQ(Choose(JustBelow(0.237)), Pair(4, 1));     // (19, 13)
  EXPECT_EQ(Choose(JustBelow(1.09e-4)), Pair(20, 9));  // (19, 13)
}

TEST(ClickHouseTable, BestOfEachRow) {
  // At the lowest FPR of a row, with three digits, the answer is its best number of hash functions.
  const uint32_t best[] = {1, 2, 3, 3, 4, 5, 6, 6, 7, 8, 8, 9, 10, 10, 11, 12, 12, 13, 14};
  for (uint32_t i = 0; i < std::size(best); ++i) {
    const uint32_t bits_per_key = i + 2;
    char entry[32];
    std::snprintf(entry, sizeof entry, "%.2e", internal::ClassicBloomFpr(bits_per_key, best[i]));
    EXPECT_EQ(Choose(std::strtod(entry, nullptr)), Pair(bits_per_key, best[i])) << entry;
  }
}

TEST(ClickHouseTable, TargetsOutOfReachAreErrors) {
  for (const double target_fpr :
       {JustBelow(6.71e-5), 1e-5, 0.0, -0.1, 1.1, std::numeric_limits<double>::infinity(),
        std::numeric_limits<double>::quiet_NaN()}) {
    const Result<ClickHouseLayout> layout = clickhouse_best_practice(target_fpr);
    ASSERT_FALSE(layout.ok()) << target_fpr;
    EXPECT_EQ(layout.status().code(), StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(clickhouse_best_practice(1e-5).status().message(),
            "target_fpr is 1e-05; allowed: 6.71e-05 to 1");
}

TEST(ClickHouseTable, MeetsEveryTargetButForTheThirdDigit) {
  for (double target_fpr = 6.71e-5; target_fpr <= 1; target_fpr *= 1.0003) {
    const Result<ClickHouseLayout> layout = clickhouse_best_practice(target_fpr);
    ASSERT_TRUE(layout.ok()) << target_fpr;
    EXPECT_LE(internal::ClassicBloomFpr(layout->bits_per_key, layout->num_probes),
              1.005 * target_fpr);
  }
}

// Measured FPRs of classic filters against the models, two-sided. Keys are consecutive numbers,
// which are frequent in storage engines.

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

ClassicBloom FilterOfNumbers(uint64_t num_bits, uint32_t num_probes, uint64_t num_keys) {
  ClassicBloom filter = *ClassicBloom::Create(*BloomLayout::ForBits(num_bits, num_probes));
  for (uint64_t i = 0; i < num_keys; ++i) filter.AddHash(HashNumber(i));
  return filter;
}

// The table of textbooks on Bloom filters: P = (1 - e^(-kn/m))^k.
TEST(ClassicBloomFpr, TextbookTableHolds) {
  constexpr uint64_t kKeys = 16'384;
  constexpr uint64_t kProbes = 100'000;
  std::vector<uint64_t> absent;
  for (uint64_t i = 0; i < kProbes; ++i) absent.push_back(HashNumber(i | uint64_t{1} << 63));
  for (uint32_t bits_per_key = 1; bits_per_key <= 32; ++bits_per_key) {
    for (const uint32_t k : {1u, 2u, 3u, 4u, 5u, 7u, 10u, 14u, 19u, 24u}) {
      const uint64_t num_bits = bits_per_key * kKeys;
      const ClassicBloom filter = FilterOfNumbers(num_bits, k, kKeys);
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

struct FewBits {
  uint64_t num_bits;
  uint64_t num_keys;
  uint32_t k;
  uint64_t num_filters;
};

// The FPR depends on independent positions of a key. Few bits and many positions, where double
// hashing and its enhanced form have 3 and 1.1 times the model's FPR; and one key.
TEST(ClassicBloomFpr, FewBitsHaveTheModelsRate) {
  constexpr uint64_t kProbesPerFilter = 1000;
  for (const auto& [num_bits, num_keys, k, num_filters] :
       {FewBits{64, 3, 15, 5000}, FewBits{128, 8, 11, 5000}, FewBits{1024, 50, 14, 5000},
        FewBits{64, 6, 7, 5000}, FewBits{10, 1, 7, 2000}, FewBits{16, 1, 11, 2000},
        FewBits{24, 1, 3, 2000}, FewBits{2, 1, 1, 2000}}) {
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

}  // namespace
}  // namespace blocksieve::testing
