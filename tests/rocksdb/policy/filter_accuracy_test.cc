#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "blocksieve/rocksdb/filter_policy.h"
#include "blocksieve/sizing.h"
#include "tests/support/built_filter.h"
#include "tests/support/key_sets.h"
#include "tests/support/statistics.h"
#include "tests/support/test_db.h"

// Measured FPR against the target: through RocksDB's interface but without a database, where probes
// are cheap enough for low targets, and in a database, by RocksDB's own counters.

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

std::shared_ptr<const rocksdb::FilterPolicy> PolicyOf(double target_fpr) {
  FilterPolicyOptions options;
  options.target_fpr = target_fpr;
  return NewFilterPolicy(options);
}

// Odd keys from the gaps between present ones, then from beyond them.
size_t CountFalsePositives(rocksdb::FilterBitsReader* reader, KeyShape shape, uint64_t probes) {
  constexpr size_t kBatch = 32;
  std::string keys[kBatch];
  rocksdb::Slice slices[kBatch];
  rocksdb::Slice* pointers[kBatch];
  bool may_match[kBatch];
  size_t positives = 0;
  for (uint64_t i = 0; i < probes; i += kBatch) {
    for (size_t j = 0; j < kBatch; ++j) {
      keys[j] = MakeKey(shape, 2 * (i + j) + 1);
      slices[j] = keys[j];
      pointers[j] = &slices[j];
    }
    reader->MayMatch(static_cast<int>(kBatch), pointers, may_match);
    for (const bool matches : may_match) positives += matches;
  }
  return positives;
}

class FilterAccuracy : public ::testing::TestWithParam<std::tuple<KeyShape, double>> {};

TEST_P(FilterAccuracy, TheFprIsBarelyBelowTheTarget) {
  const auto [shape, target] = GetParam();
  for (const uint64_t num_keys : {10000, 200000}) {
    const auto policy = PolicyOf(target);
    const auto keys = PresentKeys(shape, num_keys);
    const BuiltFilter filter = BuildFilter(*policy, keys);
    const auto reader = NewReader(*policy, filter.contents);
    ASSERT_EQ(CountMatches(reader.get(), keys), keys.size());

    const uint64_t probes = target < 0.001 ? 3200000 : 640000;
    const double measured = static_cast<double>(CountFalsePositives(reader.get(), shape, probes)) /
                            static_cast<double>(probes);
    const double spread =
        BlockedBloomSpread(*ChooseLayout(FilterKind::kBlockedBloom, target), num_keys);
    const Interval interval = FprInterval(target, 0.85, 1.02, spread, probes);
    EXPECT_TRUE(interval.Contains(measured))
        << num_keys << " keys: " << measured << " is not in " << interval;
    RecordProperty("ratio_" + std::to_string(num_keys), std::to_string(measured / target));
  }
}

INSTANTIATE_TEST_SUITE_P(ShapesAndTargets, FilterAccuracy,
                         ::testing::Combine(::testing::Values(KeyShape::kCounter,
                                                              KeyShape::kCommonPrefix,
                                                              KeyShape::kUrl),
                                            ::testing::Values(0.3, 0.1, 0.01, 1e-3, 1e-4)),
                         ParamNames());

// Few keys: never above the target. Averaged over many filters, as a single one says little.
TEST(FilterAccuracyOfFewKeys, TheFprIsNeverAboveTheTarget) {
  for (const double target : {0.3, 0.1, 0.01, 0.001}) {
    const auto policy = PolicyOf(target);
    const Layout layout = *ChooseLayout(FilterKind::kBlockedBloom, target);
    for (const uint64_t num_keys : {1, 2, 3, 5, 10, 30, 100, 300, 1000}) {
      constexpr uint64_t kFilters = 200;
      constexpr uint64_t kProbes = 640;
      uint64_t positives = 0;
      for (uint64_t i = 0; i < kFilters; ++i) {
        std::vector<std::string> keys;
        for (uint64_t j = 0; j < num_keys; ++j) {
          keys.push_back(MakeKey(KeyShape::kUrl, 1000000 * (i + 1) + 2 * j));
        }
        const BuiltFilter filter = BuildFilter(*policy, keys);
        const auto reader = NewReader(*policy, filter.contents);
        ASSERT_EQ(CountMatches(reader.get(), keys), keys.size());
        positives += CountFalsePositives(reader.get(), KeyShape::kUrl, kProbes);
      }
      constexpr uint64_t kAll = kFilters * kProbes;
      // The same probes go to all filters, which share nothing but their layout.
      const double spread = BlockedBloomSpread(layout, num_keys * kFilters);
      const double measured = static_cast<double>(positives) / static_cast<double>(kAll);
      EXPECT_LE(measured, FprInterval(target, 0, 1, spread, kAll).high)
          << num_keys << " keys, target " << target;
    }
  }
}

class DbAccuracy : public ::testing::TestWithParam<std::tuple<KeyShape, double, FilterShape>> {};

TEST_P(DbAccuracy, TheFprIsBarelyBelowTheTarget) {
  constexpr uint64_t kKeys = 100000;
  const auto [key_shape, target, filter_shape] = GetParam();
  DbConfig config =
      MakeConfig(filter_shape, PolicyFromString("blocksieve:" + std::to_string(target)));
  config.table.metadata_block_size = 4096;  // RocksDB's default
  config.options.write_buffer_size = 64 << 20;
  TestDb db(config);
  rocksdb::WriteOptions unlogged;
  unlogged.disableWAL = true;
  const auto keys = PresentKeys(key_shape, kKeys);
  for (const std::string& key : keys) MustBeOk(db->Put(unlogged, key, "v"), "put");
  db.Flush();
  ASSERT_EQ(db.FilterEntries(), kKeys);

  uint64_t lost = 0;
  rocksdb::PinnableSlice value;
  for (const std::string& key : keys) {
    value.Reset();
    lost += !db->Get({}, db->DefaultColumnFamily(), key, &value).ok();
  }
  EXPECT_EQ(lost, 0u);
  EXPECT_EQ(db.Use().rejected, 0u);

  db.ResetUse();
  for (const std::string& key : AbsentKeys(key_shape, kKeys)) {
    value.Reset();
    ASSERT_TRUE(db->Get({}, db->DefaultColumnFamily(), key, &value).IsNotFound());
  }
  const FilterUse use = db.Use();
  EXPECT_GT(use.rejected, kKeys / 2);
  EXPECT_GE(use.absent(), kKeys - 1);  // all but the last are within the file's range
  const double spread = BlockedBloomSpread(*ChooseLayout(FilterKind::kBlockedBloom, target), kKeys);
  const Interval interval = FprInterval(target, 0.85, 1.02, spread, use.absent());
  EXPECT_TRUE(interval.Contains(use.fpr())) << use.fpr() << " is not in " << interval;
  RecordProperty("ratio", std::to_string(use.fpr() / target));
}

INSTANTIATE_TEST_SUITE_P(ShapesAndTargets, DbAccuracy,
                         ::testing::Combine(::testing::Values(KeyShape::kCounter,
                                                              KeyShape::kCommonPrefix,
                                                              KeyShape::kUrl),
                                            ::testing::Values(0.3, 0.1, 0.01, 1e-3), kBothShapes),
                         ParamNames());

}  // namespace
}  // namespace blocksieve
