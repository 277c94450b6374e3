// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "integration/rocksdb/compat/stock_filters.h"

#include <array>
#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "blocksieve/filter.h"
#include "integration/rocksdb/maintenance/file_report.h"
#include "integration/rocksdb/policy/filter_bits.h"
#include "integration/rocksdb/policy/policy.h"
#include "lib/filter/kinds.h"
#include "tests/support/built_filter.h"
#include "tests/support/key_sets.h"
#include "tests/support/test_locale.h"

namespace blocksieve::rocksdb_plugin {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support
using internal::StockBloomProbes;

// The trailer of a stock Bloom filter: -1, 0, probes (in the low five bits), two more bytes.
uint32_t ProbesInTrailer(const rocksdb::Slice& filter) {
  EXPECT_EQ(filter[filter.size() - 5], -1);
  EXPECT_EQ(filter[filter.size() - 4], 0);
  return static_cast<uint8_t>(filter[filter.size() - 3]) & 31u;
}

TEST(StockFiltersTest, TheModelSetsAsManyBitsAsRocksDbDoes) {
  std::vector<int> millibits;
  for (int tenths = 5; tenths <= 1010; ++tenths) millibits.push_back(100 * tenths);
  // Around where RocksDB changes the number of probes.
  for (const int edge : {2080, 3580, 5100, 6640, 8300, 10070, 11720, 14001, 16050, 18300, 22001,
                         25501, 28000, 30000, 49999, 50000}) {
    for (int near = edge - 1; near <= edge + 2; ++near) millibits.push_back(near);
  }
  for (const int each : millibits) {
    const double bits_per_key = each / 1000.0;
    const auto policy = NewStockPolicy(FilterKind::kStockBloom, bits_per_key);
    const BuiltFilter filter = BuildFilter(*policy, {"a", "b", "c"});
    ASSERT_EQ(StockBloomProbes(bits_per_key), ProbesInTrailer(filter.contents)) << bits_per_key;
  }
}

TEST(StockFiltersTest, ThePolicyDoesNotDependOnTheLocale) {
  const TestLocale locale("de_DE");
  constexpr double kBits = 7.654;
  const auto stock = NewStockPolicy(FilterKind::kStockBloom, kBits);
  ASSERT_NE(stock, nullptr);
  const auto keys = PresentKeys(KeyShape::kUrl, 10'000);
  const double bits = 8.0 * static_cast<double>(BuildFilter(*stock, keys).contents.size());
  EXPECT_NEAR(bits / 10'000, kBits, 0.06);
}

TEST(StockFiltersTest, BelowHalfABitThereIsNoFilter) {
  for (const double bits_per_key : {0.0, 0.1, 0.49, -1.0, std::nan("")}) {
    EXPECT_EQ(StockBloomFpr(bits_per_key), 1) << bits_per_key;
    EXPECT_EQ(StockBloomProbes(bits_per_key), 0u) << bits_per_key;
  }
  // From half a bit on, RocksDB rounds up to one.
  EXPECT_EQ(StockBloomFpr(0.5), StockBloomFpr(1));
  EXPECT_LT(StockBloomFpr(0.5), 1);
}

TEST(StockFiltersTest, BitsForAnFprAreTheMinimum) {
  for (int i = 0; i <= 180; ++i) {
    const double fpr = 0.5 * std::pow(0.93, i);  // 0.5 to 1e-6
    const double bits = StockBitsPerKey(FilterKind::kStockBloom, fpr);
    EXPECT_LE(StockBloomFpr(bits), fpr) << fpr;
    // Slightly fewer bits miss it, by at most the largest step between two numbers of probes.
    if (bits > 1.002) {
      EXPECT_GT(StockBloomFpr(bits - 0.001), fpr) << fpr;
    }
  }
}

// Layouts of both kinds, and the filters that RocksDB then builds.
TEST(StockFiltersTest, LayoutsHaveThePredictedSizeAndFpr) {
  StockPolicies policies;
  for (const FilterKind kind : {FilterKind::kStockBloom, FilterKind::kStockRibbon}) {
    size_t num_layouts = 0;
    double bits = 0;
    for (double fpr = 0.5; fpr >= kMinTargetFpr; ++num_layouts) {
      const Layout layout = *ChooseLayout(kind, fpr);
      fpr = 0.999 * layout.predicted_fpr;
      EXPECT_GT(layout.bits_per_key, bits);
      bits = layout.bits_per_key;
      EXPECT_EQ(LayoutForBitsPerKey(kind, bits + 1e-6)->predicted_fpr, layout.predicted_fpr);
      if (num_layouts % 16 != 0) continue;
      for (const uint64_t num_keys : {1, 30, 300, 1000, 5000, 30'000, 150'000}) {
        const auto keys = PresentKeys(KeyShape::kUrl, num_keys);
        const rocksdb::FilterPolicy& policy = *policies.ForLayout(layout);
        const BuiltFilter filter = BuildFilter(policy, keys);
        const auto num_bytes = static_cast<double>(BlockBytes(layout, num_keys));
        SCOPED_TRACE(LayoutText(layout) + ", " + std::to_string(num_keys) + " keys");
        // A Ribbon filter consists of blocks of 128 slots; two more or fewer.
        EXPECT_NEAR(static_cast<double>(filter.contents.size()), num_bytes,
                    kind == FilterKind::kStockBloom ? 0 : 32 * bits + 0.002 * num_bytes);
        EXPECT_LE(MaxBlockKeys(layout, BlockBytes(layout, num_keys)),
                  num_keys + num_keys / 100 + 600);
        EXPECT_GE(MaxBlockKeys(layout, BlockBytes(layout, num_keys)), num_keys);
        if (num_keys != 150'000 || layout.predicted_fpr < 1e-3) continue;
        const auto passed =
            static_cast<double>(CountMatches(policy, filter, AbsentKeys(KeyShape::kUrl, num_keys)));
        const double expected = static_cast<double>(num_keys) * layout.predicted_fpr;
        // Up to 5 % above the model of Bloom filters.
        EXPECT_NEAR(passed / expected, 1.015, 0.035 + 4 / std::sqrt(expected));
      }
    }
    EXPECT_EQ(num_layouts, 136u);
    EXPECT_EQ(ChooseLayout(kind, 0.01)->predicted_fpr, 0.01);
    EXPECT_FALSE(ChooseLayout(kind, 0.51).ok());
    EXPECT_FALSE(LayoutForBitsPerKey(kind, 0.9).ok());
    EXPECT_FALSE(FilterBuilder::Create({.kind = kind}).ok());
  }
}

// A policy that a later RocksDB than known has only loaded. Compiled for it: later_rocksdb_test.cc.
TEST(StockFallbackTest, WithOtherLayoutsAllFiltersAreBloom) {
  const Policy policy({.target_fpr = 0.01}, AbiProblem("99.0.0"));
  const rocksdb::BlockBasedTableOptions table = NotFittedToMemory();
  rocksdb::FilterBuildingContext context(table);
  context.num_levels = 7;
  context.reason = rocksdb::TableFileCreationReason::kCompaction;
  for (const int level : {0, 6}) {
    context.level_at_creation = level;
    const std::unique_ptr<rocksdb::FilterBitsBuilder> builder(
        policy.GetBuilderWithContext(context));
    ASSERT_NE(builder, nullptr);
    const auto keys = PresentKeys(KeyShape::kUrl, 10'000);
    const BuiltFilter filter = Build(builder.get(), keys);
    EXPECT_EQ(CountMatches(policy, filter, keys), 10'000);
    EXPECT_LT(CountMatches(policy, filter, AbsentKeys(KeyShape::kUrl, 10'000)), 10'000 / 3);
    EXPECT_EQ(filter.contents[filter.contents.size() - 5], -1)
        << "RocksDB's marker of a Bloom filter";
  }
}

// RocksDB's 32-bit hash spreads similar keys more evenly than random ones.
std::string RandomKey(std::mt19937_64* random) {
  const std::array<uint64_t, 2> key = {(*random)(), (*random)()};
  return std::string(reinterpret_cast<const char*>(key.data()), sizeof(key));
}

// The filters of RocksDB itself, and what `inspect` says of them.
TEST(LegacyBloomTest, PredictsTheMeasuredFpr) {
  std::mt19937_64 random(1);
  for (const int bits_per_key : {5, 10, 15, 20}) {
    const std::shared_ptr<const rocksdb::FilterPolicy> policy(
        rocksdb::NewBloomFilterPolicy(bits_per_key));
    rocksdb::BlockBasedTableOptions table = NotFittedToMemory();
    // Above 2^14 lines, the 32-bit hash counts. Filters with few keys differ, so there are many.
    for (const int num_keys : {100, 3000, 100'000, 1'000'000}) {
      table.format_version = static_cast<uint32_t>(num_keys % 3 + 2);
      const int num_filters = 1 + 200'000 / num_keys;
      const int num_probes = (bits_per_key < 15 ? 1'000'000 : 4'000'000) / num_filters;
      double measured = 0;
      double predicted = 0;
      for (int i = 0; i < num_filters; ++i) {
        const auto builder = NewBuilder(*policy, table);
        for (int key = 0; key < num_keys; ++key) builder->AddKey(RandomKey(&random));
        const BuiltFilter filter = Finish(builder.get());
        FilterReport report;
        DescribeFilters({filter.contents.ToString()}, num_keys, &report);
        ASSERT_TRUE(report.has_legacy_blooms);
        predicted += report.predicted_fpr / num_filters;
        const std::unique_ptr<rocksdb::FilterBitsReader> reader(NewBitsReader(filter.contents));
        int passed = 0;
        for (int probe = 0; probe < num_probes; ++probe) {
          passed += reader->MayMatch(RandomKey(&random));
        }
        measured += static_cast<double>(passed) / num_probes / num_filters;
      }
      // RocksDB's own estimate is never low, and high in filters of a few lines.
      EXPECT_GE(predicted / measured, 0.97) << bits_per_key << ", " << num_keys << ": " << measured;
      EXPECT_LE(predicted / measured, num_keys == 100 ? 1.75 : 1.2)
          << bits_per_key << ", " << num_keys << ": " << measured;
    }
  }
}

}  // namespace
}  // namespace blocksieve::rocksdb_plugin
