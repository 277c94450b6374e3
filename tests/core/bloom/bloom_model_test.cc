#include "lib/bloom/bloom_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "blocksieve/bloom.h"
#include "blocksieve/sizing.h"
#include "lib/classic/positions.h"

// The models against published values, and against other ways to compute them. FilterConformance
// measures filters of every kind.

namespace blocksieve::testing {
namespace {

using internal::BlockedBloomFprForKeys;
using internal::BloomFprForKeys;
using internal::ClassicBloomFpr;

void ExpectRatio(double actual, double expected, double tolerance) {
  EXPECT_NEAR(actual / expected, 1, tolerance) << actual << " for " << expected;
}

TEST(BloomModelTest, KnownRatesOfBothKinds) {
  struct Known {
    double bits_per_key;
    uint32_t classic_probes;  // the best k
    double classic;
    double blocked;
    uint32_t blocked_probes;
  };
  for (const auto& [bits_per_key, classic_probes, classic, blocked, blocked_probes] :
       {Known{5, 3, 9.19e-2, 9.31e-2, 3}, Known{8, 6, 2.16e-2, 2.33e-2, 5},
        Known{10, 7, 8.19e-3, 9.67e-3, 6}, Known{12, 8, 3.14e-3, 4.14e-3, 8},
        Known{16, 11, 4.59e-4, 8.44e-4, 9}, Known{20, 14, 6.71e-5, 1.98e-4, 11}}) {
    ExpectRatio(ClassicBloomFpr(bits_per_key, classic_probes), classic, 0.002);
    EXPECT_EQ(BloomLayout::ForKeys(1, classic)->num_probes, classic_probes);
    const Layout best = internal::BestLayout(bits_per_key);
    ExpectRatio(best.predicted_fpr, blocked, 0.002);
    EXPECT_EQ(best.num_probes, blocked_probes);
  }
}

TEST(BloomModelTest, ExtremeSizes) {
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

TEST(BloomModelTest, AgreesWithOccupancyDistribution) {
  for (const uint32_t num_bits : {8u, 64u, 512u}) {
    for (const uint32_t num_keys : {1u, 2u, 13u, 60u}) {
      for (const uint32_t num_probes : {1u, 2u, 6u, 11u, 16u}) {
        ExpectRatio(BloomFprForKeys(num_bits, num_keys, num_probes),
                    FprByOccupancy(num_bits, num_keys, num_probes), 1e-11);
      }
    }
  }
}

}  // namespace
}  // namespace blocksieve::testing
