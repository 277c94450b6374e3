// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "blocksieve/rocksdb.h"
#include "integration/rocksdb/compat/filter_bits_abi.h"
#include "integration/rocksdb/maintenance/file_report.h"
#include "integration/rocksdb/policy/policy.h"
#include "tests/support/built_filter.h"
#include "tests/support/key_sets.h"
#include "tests/support/test_db.h"

// kind=stock: filters that RocksDB builds and reads, with the rates of the policy's goal. Their
// models: stock_filters_test.cc; rewriting: planned_files_test.cc; migration_test.cc; by level:
// cli/steps_test.py.

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support
using rocksdb_plugin::FileReport;
using rocksdb_plugin::FilterOrigin;

constexpr uint64_t kKeys = 10'000;

std::vector<FileReport> Reports(TestDb* db) {
  std::vector<FileReport> files;
  MustBeOk(rocksdb_plugin::ReadLiveFiles(&db->db(), (*db)->DefaultColumnFamily(),
                                         rocksdb_plugin::FileParts::kFilters, &files));
  return files;
}

class StockKindTest : public ::testing::TestWithParam<FilterShape> {
 protected:
  StockKindTest() { blocksieve_rocksdb_register(); }

  static DbConfig Config(const std::string& policy) {
    DbConfig config = MakeConfig(GetParam(), PolicyFromString(policy));
    config.table.optimize_filters_for_memory = false;
    return config;
  }

  // A file of keys of the whole range.
  static void WriteFile(TestDb* db, uint64_t step, uint64_t steps) {
    for (uint64_t i = 0; i < kKeys / steps; ++i) {
      db->Put(MakeKey(KeyShape::kUrl, 2 * (steps * i + step)), "step " + std::to_string(step));
    }
    db->Flush();
  }

  // The FPR that lookups see, and their results.
  static double Fpr(TestDb* db) {
    const auto absent = AbsentKeys(KeyShape::kUrl, kKeys);
    db->ResetUse();
    EXPECT_EQ(CheckGets(&db->db(), db->model(), absent), "");
    EXPECT_GE(db->Use().absent(), Reports(db).size() * (absent.size() - 10)) << "lacks filters";
    return db->Use().fpr();
  }
};

TEST_P(StockKindTest, FilesHaveTheTargetRateAlsoInStockRocksDb) {
  const uint32_t latest = rocksdb::BlockBasedTableOptions().format_version;
  for (const uint32_t version : std::set<uint32_t>{2, 3, 4, 5, latest}) {
    for (const bool fits_memory : {false, true}) {
      SCOPED_TRACE("format_version " + std::to_string(version) + ", " +
                   std::to_string(fits_memory));
      // Filters that fit memory differ by what the allocator gives; and RocksDB rounds the rate of
      // Ribbon filters of few keys down.
      const bool differ = fits_memory || GetParam() == FilterShape::kPartitioned;
      const double slack = differ ? 0.006 : 0.0006;
      DbConfig config = Config("{id=blocksieve;target_fpr=0.01;kind=stock}");
      config.table.format_version = version;
      config.table.optimize_filters_for_memory = fits_memory;
      config.table.detect_filter_construct_corruption = fits_memory;
      TestDb db(config);
      WriteFile(&db, 0, 2);
      db.Compact();
      WriteFile(&db, 1, 2);
      for (const FileReport& file : Reports(&db)) {
        const bool is_flush = file.place.level == 0;
        EXPECT_EQ(file.filter.origin, FilterOrigin::kStock);
        // For the few keys of a partition, RocksDB may build a Bloom filter instead.
        const FilterKind kind =
            is_flush && version >= 5 ? FilterKind::kStockBloom : FilterKind::kStockRibbon;
        EXPECT_TRUE(file.filter.kinds.contains(kind));
        EXPECT_NEAR(file.filter.predicted_fpr, 0.01, slack);
      }
      // 25,000 probes pass 250 keys, with a standard error of 16.
      EXPECT_NEAR(Fpr(&db), 0.01, slack + 0.003);
      db.Reopen(Config("bloomfilter:20"));
      EXPECT_NEAR(Fpr(&db), 0.01, slack + 0.003) << "without the plug-in";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, StockKindTest, kBothShapes, ParamNames());

// A policy that a later RocksDB than known has only loaded. Compiled for it: later_rocksdb_test.cc.
TEST(StockFallbackTest, WithOtherLayoutsAllFiltersAreBloom) {
  const rocksdb_plugin::Policy policy({.target_fpr = 0.01}, rocksdb_plugin::AbiProblem("99.0.0"));
  const rocksdb::BlockBasedTableOptions table = NotFittedToMemory();
  rocksdb::FilterBuildingContext context(table);
  context.num_levels = 7;
  context.reason = rocksdb::TableFileCreationReason::kCompaction;
  for (const int level : {0, 6}) {
    context.level_at_creation = level;
    const std::unique_ptr<rocksdb::FilterBitsBuilder> builder(
        policy.GetBuilderWithContext(context));
    ASSERT_NE(builder, nullptr);
    const auto keys = PresentKeys(KeyShape::kUrl, kKeys);
    const BuiltFilter filter = Build(builder.get(), keys);
    EXPECT_EQ(CountMatches(policy, filter, keys), kKeys);
    EXPECT_LT(CountMatches(policy, filter, AbsentKeys(KeyShape::kUrl, kKeys)), kKeys / 3);
    EXPECT_EQ(filter.contents[filter.contents.size() - 5], -1)
        << "RocksDB's marker of a Bloom filter";
  }
}

}  // namespace
}  // namespace blocksieve
