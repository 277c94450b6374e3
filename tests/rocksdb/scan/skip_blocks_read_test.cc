// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <rocksdb/cache.h>

#include "tests/rocksdb/scan/skip_test_db.h"

// Cold data blocks that a scan reads, compared with the minimum: the distinct blocks with a visible
// match. RocksDB counts them.

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

// By skip indexes, or by block indexes.
class SkipBlocksReadTest : public ::testing::TestWithParam<bool> {
 protected:
  static constexpr uint64_t kRows = 100'000;
  static constexpr uint64_t kRowsPerPackage = 1000;

  SkipBlocksReadTest() {
    index_.columns = Columns({"package=field:1", "value=field:2"});
    config_ = GetParam() ? MakeConfig(FilterShape::kFull, nullptr) : SkipConfig({index_});
    config_.table.block_size = 4096;
    config_.options.target_file_size_base = 4 << 20;
    config_.options.write_buffer_size = 64 << 20;
    if (!GetParam()) return;
    config_.table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
    UseBlockIndex({.columns = index_.columns}, /*is_primary=*/false, &config_);
  }

  // Packages follow the key order, but not their names.
  static std::string Package(uint64_t row) {
    return std::string("p").append(std::to_string(row / kRowsPerPackage * 7919 % 100'003));
  }
  static std::string Value(uint64_t row, uint64_t generation) {
    std::string value = Package(row) + "\tv";
    value += std::to_string((row * 2'654'435'761 + generation) % 100'000);
    value.resize(80, '.');
    return value;
  }

  void Fill(TestDb* db) {
    for (uint64_t row = 0; row < kRows; ++row) db->Put(Key(row), Value(row, 0));
    db->Flush();
    db->Compact();
  }

  struct Cost {
    std::vector<std::string> keys;
    uint64_t blocks = 0;
    ScanExplanation explanation;
  };

  // With an empty block cache.
  void Reopen(TestDb* db) {
    config_.table.block_cache = rocksdb::NewLRUCache(256 << 20);
    db->Reopen(config_);
  }

  Cost Measure(TestDb* db, const std::string& query, SkipScanOptions options = {}) {
    Reopen(db);
    options.explain = true;
    std::unique_ptr<SkipScan> scan;
    MustBeOk(SkipScan::Create(&db->db(), nullptr, query, options, &scan), query);
    Cost cost;
    for (; scan->Valid(); scan->Next()) cost.keys.push_back(scan->key().ToString());
    MustBeOk(scan->status(), query);
    cost.explanation = scan->Explain();
    cost.blocks = Misses(db);
    return cost;
  }

  static uint64_t Misses(TestDb* db) {
    return db->db().GetOptions().statistics->getTickerCount(rocksdb::BLOCK_CACHE_DATA_MISS);
  }

  // Backwards, RocksDB looks for newer versions of a range's first key in the block before it.
  void ExpectClose(TestDb* db, const std::string& where, double most, double most_reverse) {
    const Cost full = Measure(db, where, {.use_index = false});
    Reopen(db);
    std::string value;
    for (const std::string& key : full.keys) MustBeOk(db->db().Get({}, key, &value));
    const auto oracle = static_cast<double>(Misses(db));
    for (const bool reverse : {false, true}) {
      const Cost cost = Measure(db, where, {.reverse = reverse});
      EXPECT_EQ(cost.keys.size(), full.keys.size());
      EXPECT_GT(cost.keys.size(), 0u);
      EXPECT_LE(static_cast<double>(cost.blocks), (reverse ? most_reverse : most) * oracle)
          << cost.explanation.ToText();
      EXPECT_LT(cost.blocks * 20, full.blocks);
      EXPECT_EQ(cost.explanation.data_blocks_read, cost.blocks) << cost.explanation.ToText();
    }
  }

  SkipIndexOptions index_;
  DbConfig config_;
};

INSTANTIATE_TEST_SUITE_P(Carriers, SkipBlocksReadTest,
                         kHasBlockIndexes ? ::testing::Values(false, true)
                                          : ::testing::Values(false, false),
                         [](const auto& info) {
                           return std::string(info.param ? "BlockIndex" : "SkipIndex") +
                                  std::to_string(info.index);
                         });

TEST_P(SkipBlocksReadTest, TheFirstRowsOfAnOrderAreInFewBlocks) {
  TestDb db(config_);
  for (uint64_t row = 0; row < kRows; ++row) {
    db.Put(Key(row), "p" + std::to_string(row / 3 + 100'000) + "\tvalue");
  }
  db->CompactRange({}, nullptr, nullptr);
  const Cost cost = Measure(&db, "TRUE ORDER BY package LIMIT 10");
  EXPECT_EQ(cost.keys.size(), 10u);
  EXPECT_LE(cost.blocks, 10u) << cost.explanation.ToText();
}

TEST_P(SkipBlocksReadTest, ACompactedDatabaseIsReadCloseToTheLeast) {
  TestDb db(config_);
  Fill(&db);
  for (const uint64_t row : {uint64_t{17}, kRows / 2, kRows - 1}) {
    ExpectClose(&db, "package = '" + Package(row) + "'", 1.03, 1.1);
  }
  const Cost none = Measure(&db, "package = 'p5'");
  EXPECT_EQ(none.keys.size(), 0u);
  EXPECT_LE(none.blocks, 50u);
  // Nothing overlaps, so rows are final without a lookup.
  EXPECT_EQ(Measure(&db, "package = '" + Package(0) + "'").explanation.rows_rechecked, 0u);
}

TEST_P(SkipBlocksReadTest, FreshlyRewrittenRowsInLevelZeroCostLittle) {
  TestDb db(config_);
  Fill(&db);
  for (uint64_t row = 0; row < kRows; row += 5) {
    db.Put(Key(row * 7 % kRows), Value(row * 7 % kRows, 1));
    if (row % (kRows / 4) == 0) db.Flush();
  }
  db.Flush();
  for (const uint64_t row : {uint64_t{17}, kRows / 2, kRows - 1}) {
    ExpectClose(&db, "package = '" + Package(row) + "'", 1.1, 1.25);
  }
  const Cost in_order = Measure(&db, "package = '" + Package(17) + "'", {.max_rechecked_share = 0});
  EXPECT_THAT(in_order.explanation.full_scan_reason,
              ::testing::StartsWith("most granules are selected"));
}

TEST_P(SkipBlocksReadTest, ACountOfARangeReadsTheBlocksAtItsEnds) {
  TestDb db(config_);
  for (uint64_t row = 0; row < kRows; ++row)
    db.Put(Key(row), "p" + std::to_string(row + 100'000) + "\t" + std::string(70, '.'));
  db.Flush();
  const Cost count = Measure(&db, "package BETWEEN 'p110001' AND 'p190000'", {.count_only = true});
  EXPECT_EQ(count.explanation.rows_returned, 80'000u);
  EXPECT_LE(count.blocks, 4u) << count.explanation.ToText();
}

// A scan of a few rows reads a few blocks, and a predicate that cannot prune reads no index.
TEST_P(SkipBlocksReadTest, LimitsAndUselessPredicatesWasteNoReads) {
  TestDb db(config_);
  Fill(&db);
  const Cost few = Measure(&db, "package >= ''", {.limit = 3});
  EXPECT_EQ(few.keys.size(), 3u);
  EXPECT_LE(few.blocks, 2u);
  const ScanExplanation unskippable = Measure(&db, "value LIKE '%7%'").explanation;
  EXPECT_TRUE(unskippable.is_full_scan);
  EXPECT_EQ(unskippable.index_bytes_touched, 0u);
  ASSERT_EQ(unskippable.comparisons.size(), 1u);
  EXPECT_FALSE(unskippable.comparisons[0].is_used);
  EXPECT_NE(unskippable.comparisons[0].reason, "");
}

TEST_P(SkipBlocksReadTest, AScanOfOneRowOpensTheIndexesThatItReaches) {
  constexpr uint64_t kFiles = 100;
  TestDb db(config_);
  for (uint64_t row = 0; row < 10 * kFiles; ++row) {
    db.Put(Key(row), Value(row, 0));
    if (row % 10 == 9) db.Flush();
  }
  for (const bool reverse : {false, true}) {
    const Cost one =
        Measure(&db, "package = '" + Package(0) + "'", {.limit = 1, .reverse = reverse});
    EXPECT_EQ(one.keys.size(), 1u);
    EXPECT_EQ(one.explanation.num_files, 1u);
    EXPECT_EQ(one.explanation.files_not_reached, kFiles - 1);
    EXPECT_THAT(one.explanation.ToText(), ::testing::HasSubstr("not reached"));
  }
}

}  // namespace
}  // namespace blocksieve
