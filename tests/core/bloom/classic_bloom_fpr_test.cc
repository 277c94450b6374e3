#include <gtest/gtest.h>

#include <array>
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
#include "tests/core/filter/test_filters.h"
#include "tests/support/statistics.h"

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

/// Expects as many positives as `fpr` has in so many probes of filters that differ by `spread`.
Interval ExpectPositives(uint64_t positives, double fpr, uint64_t num_probes, double spread) {
  const Interval expected = CountInterval(fpr * static_cast<double>(num_probes), spread);
  EXPECT_TRUE(expected.Contains(static_cast<double>(positives)))
      << positives << " not in " << expected;
  return expected;
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
      const double spread = FprSpread(static_cast<double>(num_bits), kKeys, k);
      SCOPED_TRACE(::testing::Message() << "m/n = " << bits_per_key << ", k = " << k);
      ExpectPositives(positives, fpr, kProbes, spread);
      // Where probes are too few to see a false positive, the bits still tell: P is (X/m)^k.
      EXPECT_NEAR(filter.CurrentFpr() / fpr, 1, 5 * spread + 0.001);
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
    ExpectPositives(Positives(FilterOfNumbers(num_bits, k, kKeys), kProbes), fpr, kProbes,
                    FprSpread(static_cast<double>(num_bits), kKeys, k));
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

constexpr uint64_t kProbesPerFilter = 1000;

struct FewBits {
  uint64_t num_bits;
  uint64_t num_keys;
  uint32_t k;
  uint64_t filters;

  uint64_t probes() const { return filters * kProbesPerFilter; }
};

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
    SCOPED_TRACE(::testing::Message()
                 << few.num_bits << " bits, " << few.num_keys << " keys, k = " << few.k);
    const double fpr = internal::BloomFprForKeys(few.num_bits, few.num_keys, few.k);
    const double spread =
        FprSpread(static_cast<double>(few.num_bits), static_cast<double>(few.num_keys), few.k) /
        std::sqrt(static_cast<double>(few.filters));
    ExpectPositives(OurPositives(few), fpr, few.probes(), spread + 0.005);
    const double mean = fpr * static_cast<double>(few.probes());
    EXPECT_GT(static_cast<double>(PositivesOf(DoubleHashing, few)), 3 * mean);
    EXPECT_GT(static_cast<double>(PositivesOf(EnhancedDoubleHashing, few)), 1.1 * mean);
  }
}

// One key, for which everything hangs on its positions being independent.
TEST(ClassicBloomFpr, OneKeyHasTheModelsRate) {
  for (const auto& [num_bits, k] : {std::pair{10u, 7u}, {16u, 11u}, {24u, 3u}, {2u, 1u}}) {
    SCOPED_TRACE(num_bits);
    const FewBits few{num_bits, 1, k, 2000};
    ExpectPositives(OurPositives(few), internal::BloomFprForKeys(num_bits, 1, k), few.probes(),
                    0.02);
  }
}

TEST(ClassicBloomFpr, LayoutForKeysMeetsItsTarget) {
  for (const double target : {0.1, 0.01, 1e-3}) {
    constexpr uint64_t kKeys = 200'000;
    constexpr uint64_t kProbes = 4'000'000;
    const BloomLayout layout = *BloomLayout::ForKeys(kKeys, target);
    const uint64_t positives =
        Positives(FilterOfNumbers(layout.num_bits, layout.num_probes, kKeys), kProbes);
    EXPECT_LE(static_cast<double>(positives), CountInterval(target * kProbes, 0.001).high)
        << target;
    EXPECT_GE(static_cast<double>(positives), CountInterval(0.95 * target * kProbes, 0.001).low)
        << target;
  }
}

// "Use any k hash functions" is what texts on Bloom filters say, and many filters use the
// multiplicative string hash below with k small primes. On keys that have something in common, as
// keys of storage engines do, its positions are anything but independent: the filter is full of
// holes and heaps, and its false-positive rate is hundreds of times the formula's. Ours on the same
// keys is the formula's.

constexpr std::array<uint32_t, 7> kSeeds{5, 7, 11, 13, 31, 37, 61};
constexpr uint64_t kBits = 1 << 20;  // a power of two: the weak hash is masked
constexpr uint64_t kKeys = 52'429;   // 20 bits per key
constexpr uint64_t kProbes = 2'000'000;

/// h = seed h + byte, in 32 bits, masked.
uint64_t WeakPosition(uint32_t seed, const std::string& key) {
  uint32_t hash = 0;
  for (const char byte : key) hash = seed * hash + static_cast<uint8_t>(byte);
  return hash & (kBits - 1);
}

class WeakBloom {
 public:
  void Add(const std::string& key) {
    for (const uint32_t seed : kSeeds) bits_[WeakPosition(seed, key)] = true;
  }
  bool MayContain(const std::string& key) const {
    for (const uint32_t seed : kSeeds) {
      if (!bits_[WeakPosition(seed, key)]) return false;
    }
    return true;
  }

 private:
  std::vector<bool> bits_ = std::vector<bool>(kBits);
};

TEST(WeakHash, RuinsTheFprAndOursHolds) {
  WeakBloom weak;
  ClassicBloom ours = *ClassicBloom::Create(*BloomLayout::ForBits(kBits, kSeeds.size()));
  // Numbers as eight bytes, big-endian, every other one a key: for seed 5 two of the last byte are
  // worth what the byte before it is worth, and so on, and positions coincide.
  for (uint64_t i = 0; i < kKeys; ++i) {
    weak.Add(KeyNumber(2 * i));
    ours.Add(KeyNumber(2 * i));
  }
  uint64_t weak_positives = 0;
  uint64_t our_positives = 0;
  for (uint64_t i = 0; i < kProbes; ++i) {
    weak_positives += weak.MayContain(KeyNumber(2 * i + 1));
    our_positives += ours.MayContain(KeyNumber(2 * i + 1));
  }
  const double fpr = internal::ClassicBloomFpr(
      static_cast<double>(kBits) / static_cast<double>(kKeys), kSeeds.size());
  const Interval expected = ExpectPositives(our_positives, fpr, kProbes, 0.01);
  EXPECT_GT(static_cast<double>(weak_positives), 100 * expected.high);
}

}  // namespace
}  // namespace blocksieve::testing
