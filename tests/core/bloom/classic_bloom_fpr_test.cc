#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "blocksieve/bloom.h"
#include "blocksieve/hash.h"
#include "blocksieve/sizing.h"
#include "lib/bloom/bloom_model.h"
#include "tests/support/statistics.h"

// Measured FPRs of classic filters against the models, two-sided. Keys are consecutive numbers,
// which are frequent in storage engines.

namespace blocksieve::testing {
namespace {

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
