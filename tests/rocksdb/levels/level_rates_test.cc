// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/levels/level_rates.h"

#include <gtest/gtest.h>
#include <rocksdb/env.h>
#include <rocksdb/table.h>

#include <cmath>
#include <memory>
#include <vector>

#include "blocksieve/sizing.h"
#include "integration/rocksdb/levels/column_family_levels.h"
#include "tests/support/logs.h"
#include "tests/support/must.h"

namespace blocksieve::rocksdb_plugin {
namespace {

using rocksdb::FilterBuildingContext;
using rocksdb::TableFileCreationReason;
using testing::MemoryLogger;

// The contexts that RocksDB passes to a policy, case by case, as in integration/rocksdb/LEVELS.md.
class LevelRatesTest : public ::testing::Test {
 protected:
  static constexpr int kNumLevels = 7;

  FilterBuildingContext Context(int level, TableFileCreationReason reason) {
    FilterBuildingContext context(table_);
    context.compaction_style = style_;
    context.num_levels = num_levels_;
    context.info_log = log_.get();
    context.column_family_name = "default";
    context.level_at_creation = level;
    context.reason = reason;
    return context;
  }

  double TargetFpr(const FilterBuildingContext& context) {
    return testing::Must(rates_.ChooseRates(goal_, context)).target_fpr;
  }
  double Flush() { return TargetFpr(Context(0, TableFileCreationReason::kFlush)); }
  double Compaction(int level, bool is_bottommost) {
    FilterBuildingContext context = Context(level, TableFileCreationReason::kCompaction);
    context.is_bottommost = is_bottommost;
    return TargetFpr(context);
  }

  void Report(const Levels& levels) {
    rocksdb::DBOptions options;
    options.info_log = log_;
    ReplaceLevels({"session", "", options, nullptr}, "default", levels);
  }

  void Learn(double size_ratio, bool dynamic) {
    rocksdb::ColumnFamilyOptions column_family;
    column_family.max_bytes_for_level_multiplier = size_ratio;
    column_family.level_compaction_dynamic_level_bytes = dynamic;
    rates_.Learn(column_family);
  }

  // The rates of all files.
  static double Uniform() { return LayoutForBitsPerKey(FilterKind::kRibbon, 10)->predicted_fpr; }

  rocksdb::BlockBasedTableOptions table_;
  const std::shared_ptr<MemoryLogger> log_ = std::make_shared<MemoryLogger>();
  RateGoal goal_{.bits_per_key = 10, .kind = FilterKind::kRibbon};
  rocksdb::CompactionStyle style_ = rocksdb::kCompactionStyleLevel;
  int num_levels_ = kNumLevels;
  LevelRates rates_;
};

TEST_F(LevelRatesTest, BeforeAnyCompactionTwoLevelsAreAssumed) {
  const double flush = Flush();
  EXPECT_LT(flush, Uniform());
  EXPECT_GT(flush, Uniform() / 16);
}

TEST_F(LevelRatesTest, WithDynamicLevelSizesTheLastLevelIsKnownFromTheStart) {
  Learn(10, true);
  const double flush = Flush();
  EXPECT_LT(flush, Uniform() / 100);
  EXPECT_NEAR(std::log2(Compaction(5, false) / Compaction(6, true)), -std::log2(10), 0.5);
}

TEST_F(LevelRatesTest, WithStaticLevelSizesTheLastLevelIsTheDeepestSeen) {
  Learn(4, false);
  const double first = Compaction(1, true);
  // No level is below it, so it is the largest.
  EXPECT_GT(first, Uniform());
  const double flush = Flush();
  EXPECT_GT(Compaction(2, true), Uniform());
  EXPECT_LT(Compaction(1, false), first);
  EXPECT_LT(Flush(), flush);
  // A level is below it, so a third level exists.
  const double second = Compaction(2, false);
  EXPECT_LT(second, first / 2);
  EXPECT_NEAR(std::log2(second / Compaction(3, true)), -std::log2(4), 0.7);
}

TEST_F(LevelRatesTest, AShrunkenTreeIsNoticed) {
  Learn(4, false);
  Compaction(5, true);
  const double deep = Flush();
  Compaction(2, true);
  EXPECT_GT(Flush(), deep);
}

TEST_F(LevelRatesTest, ColumnFamiliesAndDatabasesLearnOnTheirOwn) {
  Learn(10, false);
  const double before = Flush();
  MemoryLogger other_log;
  FilterBuildingContext other = Context(6, TableFileCreationReason::kCompaction);
  other.info_log = &other_log;
  EXPECT_GT(TargetFpr(other), 0);
  other.info_log = log_.get();
  other.column_family_name = "other";
  EXPECT_GT(TargetFpr(other), 0);
  EXPECT_EQ(Flush(), before);
}

TEST_F(LevelRatesTest, FilesWithoutALevelAreLikeTheOnlyOne) {
  Learn(10, true);
  FilterBuildingContext unknown = Context(-1, TableFileCreationReason::kMisc);
  unknown.num_levels = -1;
  unknown.info_log = nullptr;
  unknown.column_family_name = "";
  const double only = TargetFpr(unknown);
  EXPECT_NEAR(std::log2(only), std::log2(Uniform()), 0.1);
  style_ = rocksdb::kCompactionStyleFIFO;
  EXPECT_EQ(Flush(), only);
  style_ = rocksdb::kCompactionStyleUniversal;
  num_levels_ = 1;
  EXPECT_EQ(Flush(), only);
  goal_ = {.wasted_reads = 0.02, .kind = FilterKind::kRibbon};
  EXPECT_LE(Flush(), 0.02);
  EXPECT_GT(Flush(), 0.019);
}

TEST_F(LevelRatesTest, UniversalCompactionsHaveLevelsToo) {
  style_ = rocksdb::kCompactionStyleUniversal;
  Compaction(6, true);
  EXPECT_LT(Flush(), Compaction(5, false));
  EXPECT_LT(Compaction(5, false), Compaction(6, true));
}

TEST_F(LevelRatesTest, ReportedLevelsReplaceTheModel) {
  Learn(10, true);
  Levels levels = {
      {.num_runs = 3, .keys_per_run = 1e4}, {.keys_per_run = 1e5}, {.keys_per_run = 8e5}};
  Report(levels);
  const double last = Compaction(2, true);
  EXPECT_NEAR(std::log2(Compaction(1, false) / last), std::log2(1e5 / 8e5), 0.5);
  EXPECT_NEAR(std::log2(Flush() / last), std::log2(1e4 / 8e5), 0.5);
  // A level that was not reported, and one that does not exist.
  EXPECT_LT(Compaction(4, true), last);
  EXPECT_GT(Compaction(60, true), 0);
  // Reported levels without keys count as no report.
  Report({{.num_runs = 0}});
  EXPECT_LT(Flush(), Uniform() / 100);
}

struct File {
  const char* smallest;
  const char* largest;
  uint64_t num_keys;
};

// Levels, beginning with level 0. File numbers begin with 1.
rocksdb::ColumnFamilyMetaData MakeMetadata(const std::vector<std::vector<File>>& levels) {
  rocksdb::ColumnFamilyMetaData tree;
  tree.name = "default";
  uint64_t number = 0;
  for (size_t i = 0; i < levels.size(); ++i) {
    std::vector<rocksdb::SstFileMetaData> files;
    for (const File& file : levels[i]) {
      rocksdb::SstFileMetaData& one = files.emplace_back();
      one.file_number = ++number;
      one.smallestkey = file.smallest;
      one.largestkey = file.largest;
      one.num_entries = file.num_keys;
    }
    tree.levels.emplace_back(static_cast<int>(i), 0, std::move(files));
  }
  return tree;
}

const std::vector<std::vector<File>> kLevels = {{{"c", "h", 10}, {"a", "k", 10}},
                                                {{"b", "c", 50}, {"f", "h", 50}},
                                                {},
                                                {{"a", "f", 5000}, {"f", "k", 5000}}};

TEST(ColumnFamilyLevelsTest, AreMadeOfTheFiles) {
  const Levels levels = ReadLevels(MakeMetadata(kLevels), nullptr);
  ASSERT_EQ(levels.size(), 4u);
  const double runs[] = {2, 1, 0, 1};
  const double keys[] = {10, 100, 0, 10'000};
  const double shares[] = {0.75, 0.3, 1, 1};
  for (size_t i = 0; i < levels.size(); ++i) {
    EXPECT_EQ(levels[i].num_runs, runs[i]) << i;
    EXPECT_EQ(levels[i].keys_per_run, keys[i]) << i;
    EXPECT_NEAR(levels[i].lookup_share, shares[i], 0.01) << i;
  }
}

TEST(ColumnFamilyLevelsTest, AreChangedByACompactionBeforehand) {
  const auto levels_after = [](const std::vector<uint64_t>& inputs, int output_level,
                               const char* column_family = "default") {
    rocksdb::CompactionJobInfo compaction;
    compaction.cf_name = column_family;
    compaction.output_level = output_level;
    for (const uint64_t number : inputs) {
      compaction.input_file_infos.emplace_back().file_number = number;
    }
    return ReadLevels(MakeMetadata(kLevels), &compaction);
  };
  Levels levels = levels_after({1, 2, 3}, 2);
  EXPECT_EQ(levels[0].num_runs, 1);  // few keys, for files to come
  EXPECT_NEAR(levels[0].keys_per_run, 0.001 * NumKeys(levels), 1);
  EXPECT_EQ(levels[1].keys_per_run, 50);
  EXPECT_EQ(levels[2].num_runs, 1);
  EXPECT_EQ(levels[2].keys_per_run, 70);
  levels = levels_after({3, 4, 6}, 3);
  EXPECT_EQ(levels[1].num_runs, 0);
  EXPECT_EQ(levels[3].keys_per_run, 10'100);
  EXPECT_EQ(levels_after({1, 2}, 0)[0].num_runs, 2);
  EXPECT_EQ(levels_after({1, 2, 3}, 2, "other")[1].keys_per_run, 100);

  // After a bulk load, level 0 has few keys.
  const std::vector<File> loaded(73, {"a", "k", 10});
  rocksdb::CompactionJobInfo compaction;
  compaction.cf_name = "default";
  compaction.output_level = 1;
  for (uint64_t i = 1; i <= loaded.size(); ++i) {
    compaction.input_file_infos.emplace_back().file_number = i;
  }
  levels = ReadLevels(MakeMetadata({loaded, {}}), &compaction);
  EXPECT_NEAR(levels[0].num_keys(), 0.001 * 730, 0.1);
  EXPECT_EQ(levels[1].keys_per_run, 730);
}

}  // namespace
}  // namespace blocksieve::rocksdb_plugin
