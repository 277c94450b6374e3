#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "blocksieve/sizing.h"
#include "tests/support/key_sets.h"
#include "tests/support/statistics.h"
#include "tests/support/test_db.h"

// Measured FPR against the target in a database, by RocksDB's own counters. (Without a database,
// with few keys and low targets: tests/core/filter/filter_conformance_test.cc.)

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

class FilterAccuracy : public ::testing::TestWithParam<std::tuple<KeyShape, double, FilterShape>> {
};

TEST_P(FilterAccuracy, TheFprIsBarelyBelowTheTarget) {
  constexpr uint64_t kKeys = 50000;
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
  EXPECT_GE(use.absent(), kKeys - 1);  // all but the last are in the file's range
  const double spread = BlockedBloomSpread(*ChooseLayout(FilterKind::kBlockedBloom, target), kKeys);
  const Interval interval = FprInterval(target, 0.85, 1.02, spread, use.absent());
  EXPECT_TRUE(interval.Contains(use.fpr())) << use.fpr() << " is not in " << interval;
  RecordProperty("ratio", std::to_string(use.fpr() / target));
}

INSTANTIATE_TEST_SUITE_P(Targets, FilterAccuracy,
                         ::testing::Combine(::testing::Values(KeyShape::kUrl, KeyShape::kCounter,
                                                              KeyShape::kCommonPrefix),
                                            ::testing::Values(0.3, 0.01, 1e-3), kBothShapes),
                         ParamNames());

}  // namespace
}  // namespace blocksieve
