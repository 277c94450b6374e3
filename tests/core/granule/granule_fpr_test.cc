#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "lib/bloom/bloom_model.h"
#include "lib/granule/granule_index.h"
#include "lib/granule/sizing.h"
#include "tests/core/granule/granule_test_index.h"

// Measured FPRs against the exact model, two-sided, and sizes against the targets.

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
    const double large = BitsPerValue(IndexOfPaths(1'024, 200'000, type));
    const double usual = BitsPerValue(IndexOfPaths(kDefaultGranuleRows, 200'000, type));
    EXPECT_LE(large, 10.5) << ValueTypeName(type);
    EXPECT_LE(usual, 12) << ValueTypeName(type);
    RecordProperty("bits_large_" + std::string(ValueTypeName(type)), std::to_string(large));
    RecordProperty("bits_usual_" + std::string(ValueTypeName(type)), std::to_string(usual));
  }
}

}  // namespace
}  // namespace blocksieve::testing
