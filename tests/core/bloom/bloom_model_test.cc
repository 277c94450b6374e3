#include "lib/bloom/bloom_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "blocksieve/sizing.h"
#include "lib/base/kernels.h"
#include "lib/bloom/blocked_bloom.h"

// The models against published values, against other ways to compute them, and against simulation.

namespace blocksieve {
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

TEST(BloomModel, FewLinesAreAMixtureOfLines) {
  // Three lines, five keys, by hand: Binomial(5, 1/3).
  const double choose[] = {1, 5, 10, 10, 5, 1};
  double mean = 0;
  for (uint32_t keys = 0; keys <= 5; ++keys) {
    mean += choose[keys] * std::pow(2.0, 5 - keys) / 243 * BloomFprForKeys(512, keys, 4);
  }
  ExpectRatio(BlockedBloomFprForKeys(3, 5, 4), mean, 1e-12);
}

TEST(BloomModel, ManyKeysReachTheLimit) {
  for (const uint32_t num_probes : {1u, 6u, 16u}) {
    ExpectRatio(BlockedBloomFprForKeys(10'000'000, 512'000'000, num_probes),
                BlockedBloomFpr(10, num_probes), 1e-5);
    ExpectRatio(BloomFprForKeys(1'000'000, 100'000, num_probes), ClassicBloomFpr(10, num_probes),
                0.001);
  }
}

// The FPR of one blocked filter of random keys, from the bits that the library sets.
template <class Random>
double MeasureBlocked(uint64_t num_lines, uint64_t num_keys, uint32_t num_probes, int num_queries,
                      Random& random) {
  std::vector<uint64_t> hashes(num_keys);
  for (uint64_t& hash : hashes) hash = random();
  std::vector<uint8_t> lines(num_lines * internal::kLineBytes);
  internal::BlockedBloomFill(Kernel::kScalar, num_probes)(hashes, num_lines, lines.data());
  internal::FilterView view{};
  view.data = lines.data();
  view.blocked_bloom = internal::MakeBlockedBloomView(num_lines, num_probes);
  int positives = 0;
  for (int query = 0; query < num_queries; ++query) {
    positives += internal::kBlockedBloomScalar.may_match_hash(view, random());
  }
  return static_cast<double>(positives) / num_queries;
}

struct Simulation {
  uint64_t num_lines;
  uint64_t num_keys;
  uint32_t num_probes;
  int num_queries;
  double max_error;
};

// The mean of measured FPR minus the model's must be zero within kSigmas standard errors, which
// come from the samples. The standard error must be small, or the test would prove nothing.
TEST(BloomSimulation, Blocked) {
  constexpr double kSigmas = 4.5;
  constexpr int kFilters = 50;
  std::mt19937_64 random(20240501);
  for (const auto& [num_lines, num_keys, num_probes, num_queries, max_error] :
       {Simulation{1, 341, 1, 2'000, 0.005}, Simulation{40, 8'192, 2, 10'000, 0.005},
        Simulation{100, 10'240, 3, 20'000, 0.005}, Simulation{400, 25'600, 5, 50'000, 0.01},
        Simulation{400, 17'066, 8, 150'000, 0.01}, Simulation{400, 12'800, 9, 300'000, 0.015},
        Simulation{200, 20'480, 16, 20'000, 0.01}}) {
    const double fpr = BlockedBloomFprForKeys(num_lines, num_keys, num_probes);
    double sum = 0;
    double sum_of_squares = 0;
    for (int filter = 0; filter < kFilters; ++filter) {
      const double deviation =
          MeasureBlocked(num_lines, num_keys, num_probes, num_queries, random) - fpr;
      sum += deviation;
      sum_of_squares += deviation * deviation;
    }
    const double mean = sum / kFilters;
    const double standard_error =
        std::sqrt((sum_of_squares / kFilters - mean * mean) / (kFilters - 1));
    SCOPED_TRACE(::testing::Message() << num_keys << " keys, k = " << num_probes);
    EXPECT_LE(std::abs(mean), kSigmas * standard_error);
    EXPECT_LE(standard_error, max_error * fpr);
  }
}

}  // namespace
}  // namespace blocksieve
