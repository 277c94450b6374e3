// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/compat/building_context.h"

#include <gtest/gtest.h>
#include <rocksdb/table.h>

#include <memory>
#include <new>
#include <string>

#include "integration/rocksdb/levels/level_rates.h"
#include "tests/support/guarded_bytes.h"
#include "tests/support/logs.h"

// Headers in which FilterBuildingContext ends as after RocksDB 11.9, in a library of that version
// and in an earlier one. Each case is a process, as RocksDB's version is.

namespace {

std::string loaded_version;  // NOLINT: what the function below returns

}  // namespace

namespace rocksdb {

[[gnu::visibility("default")]] std::string GetRocksVersionAsString(bool) { return loaded_version; }

}  // namespace rocksdb

namespace blocksieve::rocksdb_plugin {
namespace {

using rocksdb::FilterBuildingContext;
using rocksdb::TableFileCreationReason;

constexpr RateGoal kGoal{.bits_per_key = 10};

// The layout until RocksDB 11.9.
struct EarlierContext {
  const rocksdb::BlockBasedTableOptions& table_options;
  rocksdb::CompactionStyle compaction_style = rocksdb::kCompactionStyleLevel;
  int num_levels = 7;
  rocksdb::Logger* info_log = nullptr;
  std::string column_family_name = "default";
  int level_at_creation = 1;
  bool is_bottommost = false;
  int reason = 0;
};

Levels LevelsWith(double keys) {
  return {{.keys_per_run = 1000}, {.keys_per_run = 1e5}, {.keys_per_run = keys}};
}

class BuildingContextTest : public ::testing::Test {
 protected:
  double Rate(const FilterBuildingContext& context) {
    return LevelRates().ChooseRates(kGoal, context)->target_fpr;
  }

  OpenDatabase Database(const std::string& name) {
    rocksdb::DBOptions options;
    options.info_log = log_;
    return {/*session_id=*/name, name, options, nullptr};
  }

  const rocksdb::BlockBasedTableOptions table_ = {};
  const std::shared_ptr<testing::MemoryLogger> log_ = std::make_shared<testing::MemoryLogger>();
};

TEST_F(BuildingContextTest, TellsDatabasesOfOneLogApartAndWorkersFromOthers) {
  loaded_version = std::to_string(ROCKSDB_MAJOR) + "." + std::to_string(ROCKSDB_MINOR) + "." +
                   std::to_string(ROCKSDB_PATCH);
  ReplaceLevels(Database("/large"), "default", LevelsWith(1e7));
  ReplaceLevels(Database("/small"), "default", LevelsWith(2e5));
  FilterBuildingContext context(table_);
  context.num_levels = 7;
  context.info_log = log_.get();
  context.column_family_name = "default";
  context.level_at_creation = 1;
  context.reason = TableFileCreationReason::kFlush;
  EXPECT_TRUE(IsShortLived(context));
  context.reason = TableFileCreationReason::kSstFileWriter;
  EXPECT_FALSE(IsShortLived(context));
  context.reason = TableFileCreationReason::kCompaction;

  context.db_name = "/other";
  const double unknown = Rate(context);
  context.db_name = "/large";
  const double large = Rate(context);
  context.db_name = "/small";
  const double small = Rate(context);
  EXPECT_LT(2 * large, small);
  EXPECT_NE(unknown, large);
  context.is_remote_compaction = true;
  EXPECT_EQ(Rate(context), unknown);
}

TEST_F(BuildingContextTest, OfAnEarlierLibraryIsReadToItsEndOnly) {
  loaded_version = "11.8.0";
  EXPECT_NE(AbiProblem(loaded_version), "");
  ReplaceLevels(Database("/db"), "default", LevelsWith(1e7));
  const testing::GuardedBytes bytes(sizeof(EarlierContext));
  auto* const earlier =
      new (bytes.data()) EarlierContext{.table_options = table_, .info_log = log_.get()};
  const auto& context = reinterpret_cast<const FilterBuildingContext&>(*earlier);
  EXPECT_EQ(GetDbName(context), "");
  EXPECT_FALSE(IsRemote(context));
  EXPECT_FALSE(IsShortLived(context));
  const double known = Rate(context);
  EXPECT_GT(known, 0);
  earlier->column_family_name = "other";
  EXPECT_NE(Rate(context), known) << "found by the log alone";
  earlier->~EarlierContext();
}

}  // namespace
}  // namespace blocksieve::rocksdb_plugin
