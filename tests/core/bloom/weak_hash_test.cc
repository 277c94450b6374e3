#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "blocksieve/classic_bloom.h"
#include "lib/bloom/bloom_model.h"
#include "tests/core/filter/test_filters.h"
#include "tests/support/count_interval.h"

// "Use any k hash functions" is what texts on Bloom filters say, and many filters use the
// multiplicative string hash below with k small primes. On keys that have something in common, as
// keys of storage engines do, its positions are anything but independent: the filter is full of
// holes and heaps, and its false-positive rate is hundreds of times the formula's. Ours on the same
// keys is the formula's.

namespace blocksieve::testing {
namespace {

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
  const CountInterval expected(fpr * static_cast<double>(kProbes), 0.01);
  EXPECT_TRUE(expected.Contains(our_positives)) << our_positives << " not in " << expected;
  EXPECT_GT(static_cast<double>(weak_positives), 100 * expected.high);
}

}  // namespace
}  // namespace blocksieve::testing
