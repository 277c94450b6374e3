// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <rocksdb/cache.h>

#include <cstdio>

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
    size_t rows = 0;
    uint64_t blocks = 0;
    ScanExplanation explanation;
  };

  // With an empty block cache.
  Cost Measure(TestDb* db, const std::string& where, bool use_index, bool reverse = false,
               bool counts = false) {
    config_.table.block_cache = rocksdb::NewLRUCache(256 << 20);
    db->Reopen(config_);
    const Predicate predicate = Where(where, index_.columns);
    SkipScanOptions options;
    options.use_index = use_index;
    options.reverse = reverse;
    options.count_only = counts;
    options.explain = true;
    Cost cost;
    cost.rows = Scan(&db->db(), nullptr, predicate, options, &cost.explanation).size();
    cost.blocks = Misses(db);
    return cost;
  }

  uint64_t Oracle(TestDb* db, const std::string& where) {
    SkipScanOptions options;
    options.use_index = false;
    const ScannedRows rows = Scan(&db->db(), nullptr, Where(where, index_.columns), options);
    config_.table.block_cache = rocksdb::NewLRUCache(256 << 20);
    db->Reopen(config_);
    for (const auto& [key, value] : rows) {
      std::string found;
      MustBeOk(db->db().Get({}, key, &found));
    }
    return Misses(db);
  }

  static uint64_t Misses(TestDb* db) {
    return db->db().GetOptions().statistics->getTickerCount(rocksdb::BLOCK_CACHE_DATA_MISS);
  }

  // Backwards, RocksDB looks for newer versions of a range's first key in the block before it.
  void ExpectClose(TestDb* db, const std::string& where, double most, double most_reverse) {
    const double oracle = static_cast<double>(Oracle(db, where));
    const Cost full = Measure(db, where, false);
    for (const bool reverse : {false, true}) {
      const Cost cost = Measure(db, where, true, reverse);
      std::printf("%s%s: %zu rows, %lu blocks, oracle %.0f, full scan %lu\n", where.c_str(),
                  reverse ? " reverse" : "", cost.rows, cost.blocks, oracle, full.blocks);
      EXPECT_EQ(cost.rows, full.rows);
      EXPECT_GT(cost.rows, 0u);
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
  db.Reopen(config_);
  const uint64_t before = Misses(&db);
  std::unique_ptr<SkipScan> scan;
  MustBeOk(SkipScan::Create(&db.db(), nullptr, "TRUE ORDER BY package LIMIT 10", {}, &scan),
           "scan");
  size_t num_rows = 0;
  for (; scan->Valid(); scan->Next()) ++num_rows;
  EXPECT_EQ(num_rows, 10u);
  EXPECT_LE(Misses(&db) - before, 10u) << scan->Explain().ToText();
}

TEST_P(SkipBlocksReadTest, ACompactedDatabaseIsReadCloseToTheLeast) {
  TestDb db(config_);
  Fill(&db);
  for (const uint64_t row : {uint64_t{17}, kRows / 2, kRows - 1}) {
    ExpectClose(&db, "package = '" + Package(row) + "'", 1.03, 1.1);
  }
  const Cost cost = Measure(&db, "package = 'p5'", true);
  EXPECT_EQ(cost.rows, 0u);
  EXPECT_LE(cost.blocks, 50u);
  // Nothing overlaps, so rows are final without a lookup.
  EXPECT_EQ(Measure(&db, "package = '" + Package(0) + "'", true).explanation.rows_rechecked, 0u);
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
  SkipScanOptions in_order;
  in_order.max_rechecked_share = 0;
  ScanExplanation explanation;
  Scan(&db.db(), nullptr, Where("package = '" + Package(17) + "'", index_.columns), in_order,
       &explanation);
  EXPECT_THAT(explanation.full_scan_reason, ::testing::StartsWith("most granules are selected"));
}

TEST_P(SkipBlocksReadTest, ACountOfARangeReadsTheBlocksAtItsEnds) {
  TestDb db(config_);
  for (uint64_t row = 0; row < kRows; ++row)
    db.Put(Key(row), "p" + std::to_string(row + 100'000) + "\t" + std::string(70, '.'));
  db.Flush();
  const std::string where = "package BETWEEN 'p110001' AND 'p190000'";
  const Cost scan = Measure(&db, where, true);
  const Cost count = Measure(&db, where, true, false, /*counts=*/true);
  std::printf("a scan reads %lu blocks, a count %lu\n", scan.blocks, count.blocks);
  EXPECT_EQ(count.explanation.rows_returned, scan.rows);
  EXPECT_LE(count.blocks, 4u) << count.explanation.ToText();
}

// A scan of a few rows reads a few blocks, and a predicate that cannot prune reads no index.
TEST_P(SkipBlocksReadTest, LimitsAndUselessPredicatesWasteNoReads) {
  TestDb db(config_);
  Fill(&db);
  db.Reopen(config_);
  SkipScanOptions options;
  options.limit = 3;
  options.explain = true;
  ScanExplanation explanation;
  const Predicate all = Where("package >= ''", index_.columns);
  EXPECT_EQ(Scan(&db.db(), nullptr, all, options, &explanation).size(), 3u);
  EXPECT_LE(explanation.data_blocks_read, 2u);
  const Predicate unskippable = Where("value LIKE '%7%'", index_.columns);
  options.limit = 0;
  Scan(&db.db(), nullptr, unskippable, options, &explanation);
  EXPECT_TRUE(explanation.is_full_scan);
  EXPECT_EQ(explanation.index_bytes_touched, 0u);
  EXPECT_EQ(explanation.comparisons.size(), 1u);
  EXPECT_FALSE(explanation.comparisons[0].is_used);
  EXPECT_NE(explanation.comparisons[0].reason, "");
}

TEST_P(SkipBlocksReadTest, AScanOfOneRowOpensTheIndexesThatItReaches) {
  constexpr uint64_t kFiles = 100;
  config_.options.disable_auto_compactions = true;
  TestDb db(config_);
  for (uint64_t row = 0; row < 10 * kFiles; ++row) {
    db.Put(Key(row), Value(row, 0));
    if (row % 10 == 9) db.Flush();
  }
  for (const bool reverse : {false, true}) {
    SkipScanOptions options;
    options.limit = 1;
    options.reverse = reverse;
    ScanExplanation explanation;
    const Predicate one = Where("package = '" + Package(0) + "'", index_.columns);
    EXPECT_EQ(Scan(&db.db(), nullptr, one, options, &explanation).size(), 1u);
    EXPECT_EQ(explanation.num_files, 1u);
    EXPECT_EQ(explanation.files_not_reached, kFiles - 1);
    EXPECT_NE(explanation.ToText().find("not reached"), std::string::npos);
  }
}

}  // namespace
}  // namespace blocksieve
