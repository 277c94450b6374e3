#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "blocksieve/sizing.h"
#include "lib/lsm/level_rules.h"
#include "lib/range/range_filter.h"

// The rules of AllocateByLevel and AllocateForFile on top of AllocateRates.

namespace blocksieve {
namespace {

using Levels = std::vector<RunGroup>;

constexpr RunGroup kNone{.num_runs = 0};

FilterRates RatesOf(const Levels& levels, int level, const RateGoal& goal = {.bits_per_key = 10}) {
  const Result<FilterRates> rates = AllocateForFile(levels, level, goal);
  EXPECT_TRUE(rates.ok()) << rates.status().message();
  return rates.ok() ? *rates : FilterRates();
}

double FprOf(const Levels& levels, int level, const RateGoal& goal = {.bits_per_key = 10}) {
  return RatesOf(levels, level, goal).target_fpr;
}

TEST(LevelRules, EveryLevelHasTheRatesOfItsFiles) {
  const Levels levels = {{.num_runs = 3, .keys_per_run = 1e4},
                         kNone,
                         {.keys_per_run = 1e5},
                         {.keys_per_run = 8e5, .lookup_share = 0.7}};
  const auto tree = AllocateByLevel(levels, {.bits_per_key = 10});
  ASSERT_TRUE(tree.ok());
  ASSERT_EQ(tree->levels.size(), 4u);
  for (const int level : {0, 2, 3}) {
    EXPECT_EQ(tree->levels[static_cast<size_t>(level)].target_fpr, FprOf(levels, level));
  }
  EXPECT_EQ(FprOf(levels, -1), FprOf(levels, 3));  // the largest
}

TEST(LevelRules, AnEmptyLevel0IsAQuarterOfTheSmallestLevel) {
  const Levels empty = {kNone, {.keys_per_run = 8e5}, {.keys_per_run = 1e5}};
  Levels expected = empty;
  expected[0] = {.num_runs = 1, .keys_per_run = 1e5 / 4};
  for (const int level : {0, 1, 2}) EXPECT_EQ(FprOf(empty, level), FprOf(expected, level));
}

TEST(LevelRules, AnEmptyLevelBeginsAsARunOfLevel0) {
  for (const RunGroup& level0 : {RunGroup{.num_runs = 2, .keys_per_run = 1e4}, kNone}) {
    const Levels levels = {level0, {.keys_per_run = 1e5}, {.keys_per_run = 8e5}, kNone};
    Levels expected = levels;
    expected[3] = {.keys_per_run = level0.num_runs > 0 ? 1e4 : 1e5 / 4};
    if (level0.num_runs == 0) expected[0] = expected[3];
    EXPECT_EQ(FprOf(levels, 3), FprOf(expected, 3));
  }
  EXPECT_GT(FprOf({kNone, kNone}, 1), 0);  // nothing is known
}

TEST(LevelRules, LookupSharesHaveAFloor) {
  Levels levels = {{.keys_per_run = 1e4}, {.keys_per_run = 1e6}};
  levels[0].lookup_share = 1.0 / 32;
  const double at_floor = FprOf(levels, 0);
  levels[0].lookup_share = 0;
  EXPECT_EQ(FprOf(levels, 0), at_floor);
  levels[0].lookup_share = 1.0 / 2;
  EXPECT_LT(FprOf(levels, 0), at_floor);
}

// Ascending keys: files of level 0 become the last level without being rewritten.
TEST(LevelRules, NoFileTakesMuchMoreMemoryThanTheTreeOnAverage) {
  for (const FilterKind kind : {FilterKind::kRibbon, FilterKind::kBlockedBloom}) {
    const Levels levels = {{.num_runs = 2, .keys_per_run = 1e3, .kind = kind},
                           {.keys_per_run = 1e4, .kind = kind},
                           {.keys_per_run = 1e10, .kind = kind}};
    const double most = kind == FilterKind::kRibbon ? 10 + 9 : 30;
    EXPECT_LE(ChooseLayout(kind, FprOf(levels, 0))->bits_per_key, most);
    const double last = FprOf(levels, 2);
    EXPECT_GE(FprOf(levels, 0), last / 512);
    EXPECT_LT(FprOf(levels, 0), last / 256);
  }
}

TEST(LevelRules, UnreachableGoalsHaveLimitedCost) {
  constexpr FilterKind kBloom = FilterKind::kBlockedBloom;
  for (const double runs : {1.0, 8.0, 50.0}) {
    const Levels levels = {{.num_runs = runs, .keys_per_run = 1e3, .kind = kBloom},
                           {.keys_per_run = 1e5, .kind = kBloom},
                           {.keys_per_run = 1e6, .kind = kBloom}};
    const RateGoal goal{.wasted_reads = 1e-6};
    EXPECT_LE(ChooseLayout(kBloom, FprOf(levels, 0, goal))->bits_per_key, 30) << runs;
    EXPECT_EQ(AllocateByLevel(levels, goal)->is_reached, AllocateRates(levels, goal)->is_reached);
  }
}

TEST(LevelRules, TheLastLevelHasNoFiltersExceptForRanges) {
  const Levels levels = {
      {.num_runs = 2, .keys_per_run = 1e3}, {.keys_per_run = 1e5}, {.keys_per_run = 1e6}};
  EXPECT_EQ(FprOf(levels, 2, {.wasted_reads = 1.1}), 1);
  EXPECT_LT(FprOf(levels, 1, {.wasted_reads = 1.1}), 0.2);
  const RateGoal both{.wasted_reads = 1.1, .seek_fraction = 0.5};
  const FilterRates last = RatesOf(levels, 2, both);
  EXPECT_EQ(last.target_fpr, kMaxTargetFpr);
  EXPECT_EQ(last.range_fpr, kMaxRangeFpr);
  EXPECT_LT(RatesOf(levels, 0, both).range_fpr, kMaxRangeFpr);
  EXPECT_EQ(RatesOf(levels, 2).range_fpr, 1);
}

TEST(LevelRules, OneFprIsKept) {
  EXPECT_EQ(FprOf({{.keys_per_run = 10}, {.keys_per_run = 1e9}}, 0, {.target_fpr = 0.3}), 0.3);
  EXPECT_FALSE(AllocateByLevel({kNone}, {.bits_per_key = 10}).ok());
}

}  // namespace
}  // namespace blocksieve
