#include "integration/rocksdb/compat/stock_filters.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "blocksieve/sizing.h"
#include "tests/support/built_filter.h"
#include "tests/support/key_sets.h"
#include "tests/support/test_locale.h"

namespace blocksieve::rocksdb_plugin {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

// The trailer of a stock Bloom filter: -1, 0, probes (in the low five bits), two more bytes.
uint32_t ProbesInTrailer(const rocksdb::Slice& filter) {
  EXPECT_EQ(filter[filter.size() - 5], -1);
  EXPECT_EQ(filter[filter.size() - 4], 0);
  return static_cast<uint8_t>(filter[filter.size() - 3]) & 31u;
}

TEST(StockFilters, TheModelSetsAsManyBitsAsRocksDbDoes) {
  std::vector<int> millibits;
  for (int tenths = 5; tenths <= 1010; ++tenths) millibits.push_back(100 * tenths);
  // Around where RocksDB changes the number of probes.
  for (const int edge : {2080, 3580, 5100, 6640, 8300, 10070, 11720, 14001, 16050, 18300, 22001,
                         25501, 28000, 30000, 49999, 50000}) {
    for (int near = edge - 1; near <= edge + 2; ++near) millibits.push_back(near);
  }
  for (const int each : millibits) {
    const double bits_per_key = each / 1000.0;
    const BuiltFilter filter = BuildFilter(*StockBloom(bits_per_key), {"a", "b", "c"});
    ASSERT_EQ(StockBloomProbes(bits_per_key), ProbesInTrailer(filter.contents)) << bits_per_key;
  }
}

TEST(StockFilters, ThePolicyDoesNotDependOnTheLocale) {
  const TestLocale locale("de_DE");
  constexpr double kBits = 7.654;  // unique to this test, as policies are cached
  const rocksdb::FilterPolicy* const stock = StockBloom(kBits);
  ASSERT_NE(stock, nullptr);
  const auto keys = PresentKeys(KeyShape::kUrl, 10'000);
  const double bits = 8.0 * static_cast<double>(BuildFilter(*stock, keys).contents.size());
  EXPECT_NEAR(bits / 10'000, kBits, 0.06);
}

TEST(StockFilters, TheModelPredictsTheMeasuredFpr) {
  constexpr uint64_t kKeys = 20'000;
  constexpr uint64_t kFilters = 50;
  std::map<double, size_t> passed = {{1, 0}, {2.5, 0}, {5, 0}, {8, 0}, {10, 0}, {12.5, 0}};
  for (uint64_t first = 0; first < kKeys * kFilters; first += kKeys) {
    std::vector<std::string> keys, absent;
    for (uint64_t i = first; i < first + kKeys; ++i) {
      keys.push_back(MakeKey(KeyShape::kUrl, 2 * i));
      absent.push_back(MakeKey(KeyShape::kUrl, 2 * i + 1));
    }
    for (auto& [bits_per_key, count] : passed) {
      const rocksdb::FilterPolicy* const stock = StockBloom(bits_per_key);
      count += CountMatches(*stock, BuildFilter(*stock, keys), absent);
    }
  }
  for (const auto& [bits_per_key, count] : passed) {
    const double measured = static_cast<double>(count) / (kKeys * kFilters);
    // The lowest rate, 0.0033, is measured to 2 % (standard error). RocksDB's positions in a line
    // are not quite independent: up to 5 % above the model.
    EXPECT_GT(measured, 0.95 * StockBloomFpr(bits_per_key)) << bits_per_key << " bits per key";
    EXPECT_LT(measured, 1.1 * StockBloomFpr(bits_per_key)) << bits_per_key << " bits per key";
  }
}

TEST(StockFilters, BelowHalfABitThereIsNoFilter) {
  for (const double bits_per_key : {0.0, 0.1, 0.49, -1.0, std::nan("")}) {
    EXPECT_EQ(StockBloomFpr(bits_per_key), 1) << bits_per_key;
    EXPECT_EQ(StockBloomProbes(bits_per_key), 0u) << bits_per_key;
  }
  // From half a bit on, RocksDB rounds up to one.
  EXPECT_EQ(StockBloomFpr(0.5), StockBloomFpr(1));
  EXPECT_LT(StockBloomFpr(0.5), 1);
}

TEST(StockFilters, BitsForAnFprAreTheMinimum) {
  for (int i = 0; i <= 180; ++i) {
    const double fpr = 0.5 * std::pow(0.93, i);  // 0.5 to 1e-6
    const double bits = StockBloomBitsPerKey(fpr);
    EXPECT_LE(StockBloomFpr(bits), fpr) << fpr;
    // Slightly fewer bits miss it, by at most the largest step between two numbers of probes.
    if (bits > 1.002) {
      EXPECT_GT(StockBloomFpr(bits - 0.001), fpr) << fpr;
    }
  }
}

}  // namespace
}  // namespace blocksieve::rocksdb_plugin
