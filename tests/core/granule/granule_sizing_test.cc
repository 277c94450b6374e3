#include "lib/granule/sizing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "lib/bloom/bloom_model.h"
#include "lib/granule/filters.h"

namespace blocksieve::internal {
namespace {

constexpr double kTargets[] = {0.5, 0.3, 0.1, 0.025, 0.01, 0.001, 1e-4, 1e-6};

FilterSizer SizerFor(double target_fpr) { return *FilterSizer::Create(target_fpr); }

TEST(FilterSizer, MeetsTheTargetWithAtMostTwoExtraBits) {
  for (const double target : kTargets) {
    const FilterSizer sizer = SizerFor(target);
    EXPECT_EQ(sizer.BitsFor(0), 0);
    for (uint64_t n = 1; n < 5'000; n += 1 + n / 16) {
      const uint64_t bits = sizer.BitsFor(n);
      ASSERT_LE(BloomFprForKeys(bits, n, sizer.num_probes()), target) << target << " " << n;
      if (bits > 4) {
        ASSERT_GT(BloomFprForKeys(bits - 3, n, sizer.num_probes()), target) << target << " " << n;
      }
    }
  }
}

TEST(FilterSizer, IsNoLargerThanTheTablesLayout) {
  for (const double target : kTargets) {
    const Layout layout = *ChooseLayout(FilterKind::kClassicBloom, target);
    const FilterSizer sizer = SizerFor(target);
    EXPECT_EQ(sizer.num_probes(), layout.num_probes);
    for (const uint64_t n : {10'000, 1'000'000, 100'000'000}) {
      EXPECT_LE(sizer.BitsFor(n), 8 * PayloadBytes(layout, n) + 8);
    }
  }
}

struct Sizes {
  double ratio;  // all bits / sum of the bits of individually sized filters
  size_t num_classes;
};

Sizes SizesFor(const std::vector<uint64_t>& counts, double target_fpr) {
  const FilterSizer sizer = SizerFor(target_fpr);
  const std::vector<SizeClass> classes = ChooseSizeClasses(counts, sizer);
  uint64_t single = 0;
  for (const uint64_t count : counts) single += sizer.BitsFor(count);
  const auto bits = static_cast<double>(8 * FilterBytes(classes));
  return {bits / static_cast<double>(single), classes.size()};
}

std::vector<uint64_t> Counts(size_t num_granules, const std::function<uint64_t()>& count) {
  std::vector<uint64_t> counts(num_granules);
  std::generate(counts.begin(), counts.end(), count);
  return counts;
}

TEST(SizeClasses, CoverEveryGranuleInOrder) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 200; ++i) {
    const size_t num_granules = 1 + random() % 300;
    const std::vector<uint64_t> counts =
        Counts(num_granules, [&] { return random() >> (random() % 64) >> 50; });
    const std::vector<SizeClass> classes = ChooseSizeClasses(counts, SizerFor(0.01));
    ASSERT_LE(classes.size(), kMaxSizeClasses);
    uint64_t covered = 0;
    for (size_t c = 0; c < classes.size(); ++c) {
      ASSERT_TRUE(c == 0 || classes[c].max_values > classes[c - 1].max_values);
      ASSERT_GE(classes[c].num_granules, 1);
      const auto up_to = static_cast<uint64_t>(std::count_if(
          counts.begin(), counts.end(), [&](uint64_t n) { return n <= classes[c].max_values; }));
      covered += classes[c].num_granules;
      ASSERT_EQ(covered, up_to);
    }
    ASSERT_EQ(covered, num_granules);
  }
}

TEST(SizeClasses, NoGranulesAreOneEmptyClass) {
  const std::vector<SizeClass> classes = ChooseSizeClasses({}, SizerFor(0.01));
  ASSERT_EQ(classes.size(), 1);
  EXPECT_EQ(classes[0].num_bits, 0);
}

TEST(SizeClasses, OneLargeFilterAmongManySmallOnes) {
  std::vector<uint64_t> counts(1000, 3);
  counts[500] = 1000;
  for (const double target : kTargets) EXPECT_LE(SizesFor(counts, target).ratio, 1.25) << target;
}

TEST(SizeClasses, UniformCountsNeedFewClasses) {
  const Sizes same = SizesFor(std::vector<uint64_t>(1000, 1024), 0.01);
  EXPECT_EQ(same.num_classes, 1);
  EXPECT_LE(same.ratio, 1.002);

  std::mt19937_64 random(2);
  std::poisson_distribution<uint64_t> around(1000);
  const Sizes similar = SizesFor(Counts(1000, [&] { return around(random); }), 0.01);
  EXPECT_LE(similar.num_classes, 4) << "more rows to fetch for next to nothing";
  EXPECT_LE(similar.ratio, 1.06);
}

TEST(SizeClasses, StayNearTheSumOnSkewedCounts) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> uniform(1e-6, 1);
  for (const double target : {0.1, 0.01, 0.001}) {
    for (const size_t num_granules : {100, 1'000, 30'000}) {
      // Zipf: the r-th granule has about max / r^s values.
      for (const double exponent : {0.5, 1.0, 1.5, 2.0}) {
        uint64_t rank = 0;
        std::vector<uint64_t> counts = Counts(num_granules, [&] {
          return 1 + static_cast<uint64_t>(5'000 / std::pow(++rank, exponent));
        });
        std::shuffle(counts.begin(), counts.end(), random);
        EXPECT_LE(SizesFor(counts, target).ratio, 1.25)
            << target << ", " << num_granules << " granules, s = " << exponent;
      }
      const std::function<double()> pareto = [&] {
        return std::min(1e5, 3 / std::pow(uniform(random), 1.2));
      };
      const std::function<double()> log_uniform = [&] {
        return std::exp(uniform(random) * std::log(10'000.0));
      };
      for (const auto& draw : {pareto, log_uniform}) {
        const auto counts = Counts(num_granules, [&] { return static_cast<uint64_t>(draw()); });
        EXPECT_LE(SizesFor(counts, target).ratio, 1.25);
      }
      // 0 to 3 values. Filters have less than nine bits on average and the class takes two, so the
      // map is a quarter of the filters.
      EXPECT_LE(SizesFor(Counts(num_granules, [&] { return random() % 4; }), target).ratio,
                target > 0.05 ? 1.3 : 1.25);
    }
  }
}

}  // namespace
}  // namespace blocksieve::internal
