#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "blocksieve/classic_bloom.h"
#include "blocksieve/hash.h"
#include "blocksieve/sizing.h"
#include "lib/bloom/bloom_model.h"
#include "tests/support/count_interval.h"

namespace blocksieve::testing {
namespace {

uint64_t HashNumber(uint64_t number) {
  return HashKey({reinterpret_cast<const char*>(&number), sizeof(number)});
}

/// By how much filters of n keys differ in their FPR, relative to it: k times the relative spread
/// of the number of set bits, that of bins hit by k n balls.
double FprSpread(double num_bits, double num_keys, double k) {
  const double load = k * num_keys / num_bits;
  const double variance = num_bits * (std::exp(-load) - std::exp(-2 * load) * (1 + load));
  return k * std::sqrt(variance) / (num_bits * -std::expm1(-load));
}

ClassicBloom FilterOfNumbers(uint64_t num_bits, uint32_t num_probes, uint64_t num_keys) {
  ClassicBloom filter = *ClassicBloom::Create(*BloomLayout::ForBits(num_bits, num_probes));
  for (uint64_t i = 0; i < num_keys; ++i) filter.AddHash(HashNumber(i));
  return filter;
}

uint64_t Positives(const ClassicBloom& filter, uint64_t num_probes) {
  uint64_t positives = 0;
  for (uint64_t i = 0; i < num_probes; ++i) {
    positives += filter.MayContainHash(HashNumber(i | uint64_t{1} << 63));
  }
  return positives;
}

// The table that every text on Bloom filters has: P = (1 - e^(-kn/m))^k.
TEST(ClassicBloomFpr, TextbookTableHolds) {
  constexpr uint64_t kKeys = 16'384;
  constexpr uint64_t kProbes = 400'000;
  std::vector<uint64_t> absent;
  for (uint64_t i = 0; i < kProbes; ++i) absent.push_back(HashNumber(i | uint64_t{1} << 63));
  for (uint32_t bits_per_key = 1; bits_per_key <= 32; ++bits_per_key) {
    for (uint32_t k = 1; k <= 24; ++k) {
      const uint64_t num_bits = bits_per_key * kKeys;
      const ClassicBloom filter = FilterOfNumbers(num_bits, k, kKeys);
      uint64_t positives = 0;
      for (const uint64_t hash : absent) positives += filter.MayContainHash(hash);
      const double fpr = internal::ClassicBloomFpr(bits_per_key, k);
      const CountInterval expected(fpr * kProbes,
                                   FprSpread(static_cast<double>(num_bits), kKeys, k));
      EXPECT_TRUE(expected.Contains(positives)) << "m/n = " << bits_per_key << ", k = " << k << ": "
                                                << positives << " not in " << expected;
      // Where probes are too few to see a false positive, the bits still tell: P is (X/m)^k.
      EXPECT_NEAR(filter.CurrentFpr() / fpr, 1,
                  5 * FprSpread(static_cast<double>(num_bits), kKeys, k) + 0.001)
          << "m/n = " << bits_per_key << ", k = " << k;
    }
  }
}

TEST(ClassicBloomFpr, QuotedFiguresHold) {
  constexpr uint64_t kKeys = 500'000;
  constexpr uint64_t kProbes = 30'000'000;
  struct Quoted {
    uint32_t bits_per_key;
    uint32_t k;
    double fpr;
  };
  for (const auto& [bits_per_key, k, fpr] : {Quoted{20, 10, 8.89e-5}, Quoted{23, 7, 8.56e-5}}) {
    EXPECT_NEAR(internal::ClassicBloomFpr(bits_per_key, k), fpr, 0.005e-5);
    const uint64_t num_bits = bits_per_key * kKeys;
    const uint64_t positives = Positives(FilterOfNumbers(num_bits, k, kKeys), kProbes);
    const CountInterval expected(fpr * kProbes, FprSpread(static_cast<double>(num_bits), kKeys, k));
    EXPECT_TRUE(expected.Contains(positives)) << positives << " not in " << expected;
  }
}

// The positions of a key, from the halves of its 128-bit hash, as is usual.
using PositionsOf =
    std::function<void(uint64_t h1, uint64_t h2, uint64_t num_bits, std::vector<uint64_t>*)>;

void DoubleHashing(uint64_t h1, uint64_t h2, uint64_t num_bits, std::vector<uint64_t>* positions) {
  for (size_t i = 0; i < positions->size(); ++i) (*positions)[i] = (h1 + i * h2) % num_bits;
}

void EnhancedDoubleHashing(uint64_t h1, uint64_t h2, uint64_t num_bits,
                           std::vector<uint64_t>* positions) {
  uint64_t x = h1 % num_bits;
  uint64_t y = h2 % num_bits;
  for (size_t i = 0; i < positions->size(); ++i) {
    (*positions)[i] = x;
    x = (x + y) % num_bits;
    y = (y + i + 1) % num_bits;
  }
}

struct FewBits {
  uint64_t num_bits;
  uint64_t num_keys;
  uint32_t k;
  uint64_t filters;
};

constexpr uint64_t kProbesPerFilter = 1000;

uint64_t PositivesOf(const PositionsOf& positions_of, const FewBits& few) {
  std::vector<uint64_t> positions(few.k);
  std::vector<bool> bits(few.num_bits);
  uint64_t next = 0;
  const auto locate = [&] {
    const XXH128_hash_t hash = XXH3_128bits(&next, sizeof(next));
    ++next;
    positions_of(hash.low64, hash.high64, few.num_bits, &positions);
  };
  uint64_t positives = 0;
  for (uint64_t filter = 0; filter < few.filters; ++filter) {
    bits.assign(few.num_bits, false);
    for (uint64_t i = 0; i < few.num_keys; ++i) {
      locate();
      for (const uint64_t position : positions) bits[position] = true;
    }
    for (uint64_t i = 0; i < kProbesPerFilter; ++i) {
      locate();
      bool all = true;
      for (const uint64_t position : positions) all = all && bits[position];
      positives += all;
    }
  }
  return positives;
}

uint64_t OurPositives(const FewBits& few) {
  const BloomLayout layout = *BloomLayout::ForBits(few.num_bits, few.k);
  uint64_t next = 0;
  uint64_t positives = 0;
  for (uint64_t round = 0; round < few.filters; ++round) {
    ClassicBloom filter = *ClassicBloom::Create(layout);
    for (uint64_t i = 0; i < few.num_keys; ++i) filter.AddHash(HashNumber(next++));
    for (uint64_t i = 0; i < kProbesPerFilter; ++i) {
      positives += filter.MayContainHash(HashNumber(next++));
    }
  }
  return positives;
}

// Few bits and many positions are where double hashing fails, and the enhanced scheme too.
TEST(ClassicBloomFpr, PositionsHoldWhereDoubleHashingFails) {
  for (const FewBits& few : {FewBits{64, 3, 15, 10'000}, FewBits{128, 8, 11, 5000},
                             FewBits{1024, 50, 14, 20'000}, FewBits{64, 6, 7, 5000}}) {
    const double probes = static_cast<double>(few.filters * kProbesPerFilter);
    const double fpr = internal::BloomFprForKeys(few.num_bits, few.num_keys, few.k);
    const double spread =
        FprSpread(static_cast<double>(few.num_bits), static_cast<double>(few.num_keys), few.k) /
        std::sqrt(static_cast<double>(few.filters));
    const CountInterval expected(fpr * probes, spread + 0.005);
    const std::string which = std::to_string(few.num_bits) + " bits, " +
                              std::to_string(few.num_keys) + " keys, k = " + std::to_string(few.k);
    const uint64_t ours = OurPositives(few);
    EXPECT_TRUE(expected.Contains(ours)) << which << ": " << ours << " not in " << expected;
    EXPECT_GT(static_cast<double>(PositivesOf(DoubleHashing, few)), 3 * fpr * probes) << which;
    EXPECT_GT(static_cast<double>(PositivesOf(EnhancedDoubleHashing, few)), 1.1 * fpr * probes)
        << which;
  }
}

// One key, for which everything hangs on its positions being independent.
TEST(ClassicBloomFpr, OneKeyHasTheModelsRate) {
  for (const auto& [num_bits, k] : {std::pair{10u, 7u}, {16u, 11u}, {24u, 3u}, {2u, 1u}}) {
    const FewBits few{num_bits, 1, k, 2000};
    const double probes = static_cast<double>(few.filters * kProbesPerFilter);
    const double mean = internal::BloomFprForKeys(num_bits, 1, k) * probes;
    const CountInterval expected(mean, 0.02);
    const uint64_t ours = OurPositives(few);
    EXPECT_TRUE(expected.Contains(ours)) << num_bits << ": " << ours << " not in " << expected;
  }
}

TEST(ClassicBloomFpr, LayoutForKeysMeetsItsTarget) {
  for (const double target : {0.1, 0.01, 1e-3}) {
    constexpr uint64_t kKeys = 200'000;
    constexpr uint64_t kProbes = 4'000'000;
    const BloomLayout layout = *BloomLayout::ForKeys(kKeys, target);
    const uint64_t positives =
        Positives(FilterOfNumbers(layout.num_bits, layout.num_probes, kKeys), kProbes);
    const CountInterval at_target(target * kProbes, 0.001);
    const CountInterval a_step_below(0.95 * target * kProbes, 0.001);
    EXPECT_LE(static_cast<double>(positives), at_target.high) << target;
    EXPECT_GE(static_cast<double>(positives), a_step_below.low) << target;
  }
}

}  // namespace
}  // namespace blocksieve::testing
