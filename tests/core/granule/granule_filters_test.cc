#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "lib/base/kernels.h"
#include "lib/bloom/bloom_model.h"
#include "lib/granule/bit_slices.h"
#include "lib/granule/filters.h"
#include "lib/granule/granule_index.h"
#include "lib/granule/sizing.h"
#include "tests/core/granule/granule_test_index.h"

// Measured FPRs against the exact model, two-sided; sizes against the targets; kernels against
// checks of single bits.

namespace blocksieve::testing {
namespace {

struct GranuleRate {
  double fpr = 0;
  double probes = 0;
};

/// Absent values over granules of `num_values` each.
GranuleRate MeasureFpr(const TestIndex& index, uint64_t num_hashes) {
  std::mt19937_64 random(99);
  uint64_t positives = 0;
  for (uint64_t i = 0; i < num_hashes; ++i) {
    GranuleSet set = index.All();
    index->column_index(0).PruneByHash(random(), &set);
    positives += set.Count();
  }
  const double probes = static_cast<double>(num_hashes * index.num_granules());
  return {static_cast<double>(positives) / probes, probes};
}

TestIndex IndexOfCounts(const std::vector<uint64_t>& counts, double target_fpr) {
  std::mt19937_64 random(counts.size());
  GranuleColumnOptions column = ColumnOf(ValueType::kUint, target_fpr);
  column.with_postings = false;
  return IndexOfRows(IndexOptions(1, {column}), counts.size(),
                     [&](uint64_t granule, GranuleIndexBuilder& builder) {
                       for (uint64_t i = 0; i < counts[granule]; ++i) {
                         builder.AddValue(0, Value::Uint(random()));
                       }
                     });
}

TEST(GranuleFpr, MatchesTheModelForAnyNumberOfValues) {
  for (const double target : {0.3, 0.1, 0.01, 0.001, 1e-4}) {
    const internal::FilterSizer sizer = *internal::FilterSizer::Create(target);
    for (const uint64_t n : {1, 2, 3, 5, 8, 20, 100, 1000}) {
      const uint64_t num_granules = n == 1000 ? 500 : 4'000;
      const TestIndex index = IndexOfCounts(std::vector<uint64_t>(num_granules, n), target);
      const GranuleRate measured = MeasureFpr(index, 1'000);
      const double expected = internal::BloomFprForKeys(sizer.BitsFor(n), n, sizer.num_probes());
      EXPECT_LE(expected, target);
      // Granules of one index share the hash and an absent value's positions, and filters differ in
      // their fill: the results of a probe are not independent. In the model, the FPR of one value
      // varies little (its positions may coincide), that of one filter by about sqrt(k^2 / bits).
      // So the deviation is that of independent results, plus these two.
      const double k = sizer.num_probes();
      const double bits = static_cast<double>(sizer.BitsFor(n));
      const double independent = 1 / std::sqrt(expected * measured.probes);
      const double of_filters = k / std::sqrt(bits * static_cast<double>(num_granules));
      const double of_values = k / std::sqrt(1'000.0) * std::sqrt(k / bits);
      const double deviation =
          std::sqrt(independent * independent + of_filters * of_filters + of_values * of_values);
      EXPECT_NEAR(measured.fpr / expected, 1, 4 * deviation)
          << "target " << target << ", " << n << " values";
    }
  }
}

TEST(GranuleFpr, MeetsTheTargetOnSkewedCounts) {
  std::vector<uint64_t> counts;
  for (uint64_t r = 1; r <= 3'000; ++r) counts.push_back(1 + 3'000 / r);
  std::shuffle(counts.begin(), counts.end(), std::mt19937_64(1));
  const TestIndex index = IndexOfCounts(counts, 0.01);
  EXPECT_GT(index->column(0).num_size_classes, 3);
  const GranuleRate measured = MeasureFpr(index, 2'000);
  EXPECT_LE(measured.fpr, 0.01);
  EXPECT_GE(measured.fpr, 0.002);
}

double BitsPerValue(const TestIndex& index) {
  return 8.0 * static_cast<double>(index.bytes().size()) /
         static_cast<double>(index->column(0).num_distinct);
}

/// Rows with distinct values, and keys like the paths of a file system.
TestIndex IndexOfPaths(uint64_t granule_rows, uint64_t num_rows, ValueType type) {
  GranuleIndexBuilder builder = MakeIndexBuilder(IndexOptions(granule_rows, {ColumnOf(type)}));
  std::mt19937_64 random(5);
  for (uint64_t row = 0; row < num_rows; ++row) {
    const std::string key = "/usr/share/doc/package-" + std::to_string(10'000 + row / 30) +
                            "/examples/" + std::to_string(100'000 + row) + ".html";
    builder.StartRow(key, 1);
    const uint64_t value = random();
    builder.AddValue(
        0, type == ValueType::kUint ? Value::Uint(value) : Value::Bytes(std::to_string(value)));
  }
  return FinishIndex(&builder);
}

TEST(GranuleSize, AllIncludedAtOnePercent) {
  for (const ValueType type : {ValueType::kUint, ValueType::kBytes}) {
    EXPECT_LE(BitsPerValue(IndexOfPaths(1'024, 200'000, type)), 10.5);
    EXPECT_LE(BitsPerValue(IndexOfPaths(kDefaultGranuleRows, 200'000, type)), 12);
  }
}

}  // namespace
}  // namespace blocksieve::testing

namespace blocksieve::internal {
namespace {

bool BitAt(const std::vector<uint8_t>& bytes, uint64_t bit) {
  return bit / 8 < bytes.size() && (bytes[bit / 8] >> (bit % 8) & 1) != 0;
}

TEST(BitSlices, StrideWastesLittle) {
  for (uint64_t filters = 1; filters < 100'000; filters += 1 + filters / 50) {
    EXPECT_GE(BitSlices::StrideBits(filters), filters);
    EXPECT_LE(static_cast<double>(BitSlices::StrideBits(filters)),
              1.014 * static_cast<double>(filters));
  }
}

TEST(BitSlices, SizeSaturates) {
  EXPECT_EQ(BitSlices::NumBytes(uint64_t{1} << 40, uint64_t{1} << 40), ~uint64_t{0});
}

/// Random bits, and each filter's result by a check of single bits.
struct RandomSlices {
  std::vector<uint8_t> bytes;
  BitSlices slices;

  RandomSlices(uint64_t num_rows, uint64_t num_filters, uint32_t num_probes, uint64_t seed) {
    bytes.resize(BitSlices::NumBytes(num_rows, num_filters));
    std::mt19937_64 random(seed);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random() | random());
    slices = {bytes, num_rows, num_filters, num_probes};
  }

  bool Contains(uint64_t filter, uint64_t hash) const {
    Positions positions(hash, slices.num_rows);
    for (uint32_t j = 0; j < slices.num_probes; ++j) {
      const uint64_t stride = BitSlices::StrideBits(slices.num_filters);
      if (!BitAt(bytes, positions.Next() * stride + filter)) return false;
    }
    return true;
  }
};

TEST(BitSlices, EveryKernelMatchesSingleFilters) {
  std::mt19937_64 random(3);
  for (const uint64_t num_filters :
       {1, 7, 8, 63, 64, 65, 127, 500, 511, 512, 513, 519, 1000, 2048, 2049, 4097, 9999}) {
    const RandomSlices filters(50 + random() % 100, num_filters,
                               1 + static_cast<uint32_t>(random() % 5), random());
    for (const size_t num_hashes : {1, 2, 5}) {
      std::vector<uint64_t> hashes(num_hashes);
      for (uint64_t& hash : hashes) hash = random();
      std::vector<uint64_t> candidates((num_filters + 63) / 64);
      for (uint64_t f = 0; f < num_filters; ++f) {
        candidates[f / 64] |= uint64_t{random() % 4 != 0} << (f % 64);
      }
      std::vector<uint64_t> expected(candidates.size());
      for (uint64_t f = 0; f < num_filters; ++f) {
        bool contains = false;
        for (const uint64_t hash : hashes) contains |= filters.Contains(f, hash);
        expected[f / 64] |= (candidates[f / 64] >> (f % 64) & uint64_t{contains}) << (f % 64);
      }
      for (const Kernel kernel : AvailableKernels()) {
        std::vector<uint64_t> kept = candidates;
        filters.slices.PruneByAny(hashes, kept, kernel);
        ASSERT_EQ(kept, expected) << num_filters << " filters, " << KernelName(kernel);
      }
    }
  }
}

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
