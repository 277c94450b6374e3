#include "blocksieve/bloom.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <tuple>

#include "lib/bloom/bloom_model.h"
#include "tests/core/filter/test_filters.h"

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

TEST(BloomLayout, TargetIsMetForEveryNumberOfKeys) {
  for (const double target : {kMaxTargetFpr, 0.3, 0.05, 0.01, 1e-3, 1e-5, kMinTargetFpr}) {
    for (uint64_t n = 1; n <= 1000; ++n) {
      const BloomLayout layout = *BloomLayout::ForKeys(n, target);
      EXPECT_EQ(layout.design_keys, n);
      EXPECT_LE(internal::BloomFprForKeys(layout.num_bits, n, layout.num_probes), target)
          << n << " keys at " << target;
    }
  }
}

TEST(BloomLayout, BitsAndBytesAreKeptAsGiven) {
  const BloomLayout by_bits = *BloomLayout::ForBits(1001, 7, 3);
  EXPECT_EQ(by_bits.num_bits, 1001u);
  EXPECT_EQ(by_bits.num_probes, 7u);
  EXPECT_EQ(by_bits.hash_seed, 3u);
  EXPECT_EQ(by_bits.design_keys, 99u);  // 1001 ln 2 / 7
  const BloomLayout by_bytes = *BloomLayout::ForBytes(256, 3, 9);
  EXPECT_EQ(by_bytes.num_bits, 2048u);
  EXPECT_EQ(by_bytes.hash_seed, 9u);
}

TEST(BloomLayout, ErrorsNameTheValueOutOfRange) {
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
  EXPECT_EQ(message(BloomLayout::ForKeys(0, 0.01)), "num_keys is 0; allowed: 1 to 3569842840");
  EXPECT_EQ(message(BloomLayout::ForKeys(1, 1.0)), "target_fpr is 1; allowed: 1e-07 to 0.5");
  EXPECT_FALSE(BloomLayout::ForKeys(1, std::nan("")).ok());
  EXPECT_FALSE(ClassicBloom::Create({}).ok());
}

TEST(ClassicBloom, ContainsWhatWasAdded) {
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

TEST(ClassicBloom, FiltersOfOneLayoutCombine) {
  const BloomLayout layout = *BloomLayout::ForKeys(2000, 0.01);
  const ClassicBloom second = FilterOfKeys(layout, 800, 2000);
  ClassicBloom united = FilterOfKeys(layout, 0, 1200);
  ASSERT_TRUE(united.UniteWith(second).ok());
  EXPECT_TRUE(BlockOf(united) == BlockOf(FilterOfKeys(layout, 0, 2000)));
  // design_keys does not change the bits.
  BloomLayout larger = layout;
  larger.design_keys = 100'000;
  EXPECT_TRUE(united.UniteWith(MakeFilter(larger)).ok());
}

TEST(ClassicBloom, FiltersOfDifferentLayoutsDoNotCombine) {
  const BloomLayout layout = *BloomLayout::ForBits(1000, 5, 1);
  for (const auto& [bits, hashes, seed] :
       {std::tuple{1001u, 5u, 1u}, {1000u, 6u, 1u}, {1000u, 5u, 2u}}) {
    ClassicBloom filter = FilterOfKeys(layout, 0, 1);
    const std::string before = BlockOf(filter);
    const ClassicBloom other = MakeFilter(BloomLayout::ForBits(bits, hashes, seed));
    EXPECT_EQ(filter.UniteWith(other).code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(BlockOf(filter), before);
  }
}

TEST(Cardinality, IsWithinItsErrorAtEveryFill) {
  for (const auto& [num_bits, num_probes] :
       {std::pair{1000u, 4u}, {100'000u, 7u}, {200'000u, 1u}}) {
    ClassicBloom filter = MakeFilter(BloomLayout::ForBits(num_bits, num_probes));
    const uint64_t design = filter.layout().design_keys;
    for (uint64_t n = 1; n <= 3 * design; ++n) {
      filter.Add(PresentKey(n));
      if (n % (design / 20) != 0) continue;
      const CardinalityEstimate estimate = filter.EstimateCardinality();
      const double error = estimate.keys - static_cast<double>(n);
      EXPECT_LE(std::abs(error), 4.5 * estimate.standard_error + 1) << n << " in " << num_bits;
    }
  }
}

TEST(Cardinality, StandardErrorIsTheMeasuredDeviation) {
  constexpr uint64_t kFilters = 2000;
  constexpr uint64_t kKeys = 300;
  const BloomLayout layout = *BloomLayout::ForBits(2048, 5);
  double sum = 0;
  double squares = 0;
  double predicted = 0;
  for (uint64_t round = 0; round < kFilters; ++round) {
    ClassicBloom filter = MakeFilter(layout);
    for (uint64_t i = 0; i < kKeys; ++i) filter.Add(PresentKey(round << 32 | i));
    const CardinalityEstimate estimate = filter.EstimateCardinality();
    sum += estimate.keys - kKeys;
    squares += (estimate.keys - kKeys) * (estimate.keys - kKeys);
    predicted += estimate.standard_error / kFilters;
  }
  const double scatter = std::sqrt(squares / kFilters);
  EXPECT_NEAR(scatter / predicted, 1, 4.5 / std::sqrt(2.0 * kFilters));
  EXPECT_NEAR(sum / kFilters, 0, 4.5 * predicted / std::sqrt(double{kFilters}) + 0.01 * kKeys);
}

TEST(ClassicBloom, ReportsThatItIsOverfull) {
  ClassicBloom filter = MakeFilter(BloomLayout::ForKeys(10'000, 0.01));
  uint64_t signalled_at = 0;
  for (uint64_t i = 1; i <= 12'000 && signalled_at == 0; ++i) {
    filter.Add(PresentKey(i));
    const Status status = filter.CheckFill();
    EXPECT_EQ(status.ok(), filter.EstimateCardinality().keys <= 10'000) << i;
    if (!status.ok()) {
      signalled_at = i;
      EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
      EXPECT_NE(status.message().find("designed for 10000"), std::string::npos) << status.message();
    }
  }
  EXPECT_NEAR(static_cast<double>(signalled_at), 10'000,
              4.5 * filter.EstimateCardinality().standard_error);
}

TEST(Cardinality, IsZeroWithoutBitsAndInfiniteWithAllBits) {
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
  EXPECT_TRUE(ClassicBloom::Deserialize(AsBytes(BlockOf(filter))).ok());
}

}  // namespace
}  // namespace blocksieve::testing
