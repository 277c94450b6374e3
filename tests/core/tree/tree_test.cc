// SPDX-License-Identifier: Apache-2.0
#include "blocksieve/tree.h"

#include "tests/support/must.h"

namespace blocksieve {
namespace {

using Levels = std::vector<TreeLevel>;

// Keys that outlive the files.
struct File {
  int level;
  std::string smallest;
  std::string largest;
  uint64_t num_keys;
};

Tree MakeTree(const std::vector<File>& files) {
  std::vector<TreeFile> described;
  for (const File& file : files) {
    described.push_back({.level = file.level,
                         .num_keys = file.num_keys,
                         .smallest = file.smallest,
                         .largest = file.largest});
  }
  return Tree(std::move(described));
}

Tree Interpolated(const std::vector<File>& files) {
  Tree tree = MakeTree(files);
  tree.SetKeyRanges();
  return tree;
}

std::vector<double> LookupShares(const Tree& tree) {
  std::vector<double> shares;
  for (const TreeRun& run : tree.runs()) shares.push_back(run.lookup_share);
  return shares;
}

void ExpectNear(const std::vector<double>& shares, const std::vector<double>& expected,
                double error = 1e-9) {
  ASSERT_EQ(shares.size(), expected.size());
  for (size_t i = 0; i < shares.size(); ++i) EXPECT_NEAR(shares[i], expected[i], error) << i;
}

TEST(TreeTest, LookupsCheckRunsByTheirKeyRanges) {
  const struct {
    const char* what;
    std::vector<File> files;
    std::vector<double> shares;
  } cases[] = {
      {"runs of the same range", {{0, "a", "k", 10}, {1, "a", "k", 100}}, {1, 1}},
      {"overwritten keys count once", {{0, "a", "b", 100}, {1, "a", "k", 1000}}, {0.1, 1}},
      {"keys of a small run only", {{0, "k", "m", 200}, {1, "a", "k", 800}}, {0.2, 0.8}},
      {"between files of a run",
       {{1, "a", "b", 10}, {1, "j", "k", 10}, {2, "a", "k", 1000}},
       {0.2, 1}},
      {"levels apart",
       {{0, "v", "z", 500}, {1, "k", "v", 1500}, {2, "a", "k", 2000}},
       {0.125, 0.375, 0.5}},
      {"level 0 only", {{0, "a", "c", 50}, {0, "d", "f", 50}}, {0.5, 0.5}},
      {"files of one key", {{0, "a", "a", 1}, {1, "k", "k", 1}}, {1, 1}},
      {"no files", {}, {}},
      {"a file in another order", {{0, "k", "j", 100}, {1, "k", "a", 1000}}, {1, 1}},
      {"files in another order",
       {{1, "a", "b", 10}, {2, "f", "j", 10}, {2, "a", "e", 100}},
       {1, 1}},
      {"any bytes", {{1, "", "", 5}, {2, "", std::string(300, '\xff'), 100}}, {0, 1}},
  };
  for (const auto& [what, files, shares] : cases) {
    SCOPED_TRACE(what);
    ExpectNear(LookupShares(Interpolated(files)), shares);
  }
}

TEST(TreeTest, InterpolationFollowsKeysNotRanges) {
  // Three quarters of the keys are in the first tenth of their range, which is that of the level
  // above.
  const std::vector<File> files = {{1, std::string("k\0", 2), "k\x19", 50},
                                   {2, std::string("k\0", 2), "k\x19", 3000},
                                   {2, "k\x1a", "k\xfa", 1000}};
  ExpectNear(LookupShares(Interpolated(files)), {0.75, 1}, 0.01);
}

// There is no gap between files that end with 19999 and begin with 20000, though the bytes differ.
TEST(TreeTest, InterpolationUsesDigits) {
  std::vector<File> files;
  const auto add = [&](int level, int first, int last, uint64_t num_keys) {
    files.push_back({level, "id" + std::to_string(first), "id" + std::to_string(last), num_keys});
  };
  for (int i = 1; i < 9; ++i) add(1, 10'000 * i, 10'000 * i + 9999, 50);
  for (int i = 10'000; i < 90'000; i += 2500) add(2, i + 1250, i + 3700, 1000);
  EXPECT_GT(LookupShares(Interpolated(files))[0], 0.97);
}

TEST(TreeTest, LevelsAreMeansOverTheirRuns) {
  const Levels levels =
      Interpolated({{0, "a", "b", 10}, {0, "a", "k", 20}, {2, "a", "f", 100}, {2, "f", "k", 300}})
          .ToLevels();
  ASSERT_EQ(levels.size(), 3u);
  EXPECT_EQ(levels[0].num_runs, 2);
  EXPECT_EQ(levels[0].keys_per_run, 15);
  EXPECT_NEAR(levels[0].lookup_share, (20.0 / 400 + 1) / 2, 1e-9);
  EXPECT_EQ(levels[1].num_runs, 0);
  EXPECT_EQ(levels[1].lookup_share, 1);
  EXPECT_EQ(levels[2].num_runs, 1);
  EXPECT_EQ(levels[2].keys_per_run, 400);
  EXPECT_EQ(Tree().ToLevels().size(), 1u);
  EXPECT_EQ(NumKeys(Tree().ToLevels()), 0);
  EXPECT_EQ(NumKeys(levels), 430);
}

// As if a share of the keys were where every run has keys, and the others where only one has.
TEST(TreeTest, LookupSharesFollowProbes) {
  const auto shares = [](double probes, double fpr_of_last = 0.01) {
    Tree tree({{.level = 1, .num_keys = 100, .fpr = 0.01},
               {.level = 2, .num_keys = 300, .fpr = fpr_of_last}});
    tree.SetProbes(probes, /*absent_fraction=*/1);
    return LookupShares(tree);
  };
  ExpectNear(shares(2), {1, 1});
  ExpectNear(shares(1), {0.25, 0.75});
  ExpectNear(shares(1.5), {0.625, 0.875});
  ExpectNear(shares(1, /*fpr_of_last=*/1), {1, 1});  // probes of this run are not counted
}

TEST(TreeTest, LookupSharesMayBeThoseOfLevels) {
  Tree tree({{.level = 0, .num_keys = 1}, {.level = 1, .num_keys = 10}, {.level = 2}});
  const Levels known = {{.lookup_share = 0.25}, {.num_runs = 0, .lookup_share = 0.5}};
  tree.SetLookupShares(known);
  ExpectNear(LookupShares(tree), {0.25, 1, 1});
  EXPECT_EQ(tree.ToLevels()[0].lookup_share, 0.25);
}

TEST(TreeTest, WastedReadsAreWeightedByCoverage) {
  const Tree overlap = Interpolated({{0, "a", "b", 100}, {1, "a", "k", 1000}});
  EXPECT_NEAR(overlap.WastedReads(std::vector<double>{0.5, 0.01}, 1), 0.1 * 0.5 + 0.01, 1e-9);
  // Only keys of the older run within the key range of the newer one pay for that.
  EXPECT_NEAR(overlap.WastedReads(std::vector<double>{0.5, 0.01}, 0), 100.0 / 1100 * 0.5, 1e-9);
  const Tree apart = Interpolated({{0, "k", "m", 200}, {1, "a", "k", 800}});
  EXPECT_NEAR(apart.WastedReads(std::vector<double>{0.5, 0.01}, 1), 0.2 * 0.5 + 0.8 * 0.01, 1e-9);
  EXPECT_EQ(apart.WastedReads(std::vector<double>{0.5, 0.01}, 0), 0);
}

TEST(TreeTest, WithoutRangesEveryLookupChecksEveryRun) {
  const Tree tree({{0, 10}, {1, 30}, {2, 60}});
  EXPECT_EQ(LookupShares(tree), std::vector<double>(3, 1));
  EXPECT_DOUBLE_EQ(tree.WastedReads(std::vector<double>{0.1, 0.2, 0.4}, 1), 0.7);
  // 10 % of the keys pay nothing, 30 % the first run, 60 % the first two.
  const double present = 0.3 * 0.1 + 0.6 * 0.3;
  EXPECT_DOUBLE_EQ(tree.WastedReads(std::vector<double>{0.1, 0.2, 0.4}, 0), present);
  EXPECT_DOUBLE_EQ(tree.WastedReads(std::vector<double>{0.1, 0.2, 0.4}, 0.25),
                   0.25 * 0.7 + 0.75 * present);
  EXPECT_EQ(Tree().WastedReads(std::vector<double>{}, 0.5), 0);
  EXPECT_EQ(Tree(std::vector<TreeFile>(1)).WastedReads(std::vector<double>{1}, 1), 0);
  EXPECT_EQ(Tree({{.level = 1, .num_keys = 0, .fpr = 0.5}}).runs()[0].fpr, 1);
}

// The rules of AllocateByLevel and AllocateForFile on top of AllocateRates.

constexpr TreeLevel kNone{.num_runs = 0};

FilterRates MustAllocate(const Levels& levels, int level,
                         const RateGoal& goal = {.bits_per_key = 10}) {
  return testing::Must(AllocateForFile(levels, level, goal));
}

double TargetFpr(const Levels& levels, int level, const RateGoal& goal = {.bits_per_key = 10}) {
  return MustAllocate(levels, level, goal).target_fpr;
}

TEST(LevelRulesTest, EveryLevelHasTheRatesOfItsFiles) {
  const Levels levels = {{.num_runs = 3, .keys_per_run = 1e4},
                         kNone,
                         {.keys_per_run = 1e5},
                         {.keys_per_run = 8e5, .lookup_share = 0.7}};
  const auto tree = AllocateByLevel(levels, {.bits_per_key = 10});
  ASSERT_TRUE(tree.ok());
  ASSERT_EQ(tree->levels.size(), 4u);
  for (const int level : {0, 2, 3}) {
    EXPECT_EQ(tree->levels[static_cast<size_t>(level)].target_fpr, TargetFpr(levels, level));
  }
  EXPECT_EQ(TargetFpr(levels, -1), TargetFpr(levels, 3));  // the largest
}

TEST(LevelRulesTest, AnEmptyLevel0IsAQuarterOfTheSmallestLevel) {
  const Levels empty = {kNone, {.keys_per_run = 8e5}, {.keys_per_run = 1e5}};
  Levels expected = empty;
  expected[0] = {.num_runs = 1, .keys_per_run = 1e5 / 4};
  for (const int level : {0, 1, 2}) EXPECT_EQ(TargetFpr(empty, level), TargetFpr(expected, level));
}

TEST(LevelRulesTest, AnEmptyLevelBeginsAsARunOfLevel0) {
  for (const TreeLevel& level0 : {TreeLevel{.num_runs = 2, .keys_per_run = 1e4}, kNone}) {
    const Levels levels = {level0, {.keys_per_run = 1e5}, {.keys_per_run = 8e5}, kNone};
    Levels expected = levels;
    expected[3] = {.keys_per_run = level0.num_runs > 0 ? 1e4 : 1e5 / 4};
    if (level0.num_runs == 0) expected[0] = expected[3];
    EXPECT_EQ(TargetFpr(levels, 3), TargetFpr(expected, 3));
  }
  EXPECT_GT(TargetFpr({kNone, kNone}, 1), 0);  // nothing is known
}

TEST(LevelRulesTest, LookupSharesHaveAFloor) {
  Levels levels = {{.keys_per_run = 1e4}, {.keys_per_run = 1e6}};
  levels[0].lookup_share = 1.0 / 32;
  const double at_floor = TargetFpr(levels, 0);
  levels[0].lookup_share = 0;
  EXPECT_EQ(TargetFpr(levels, 0), at_floor);
  levels[0].lookup_share = 1.0 / 2;
  EXPECT_LT(TargetFpr(levels, 0), at_floor);
}

// Ascending keys: files of level 0 become the last level without being rewritten.
TEST(LevelRulesTest, NoFileTakesMuchMoreMemoryThanTheTreeOnAverage) {
  for (const FilterKind kind : {FilterKind::kRibbon, FilterKind::kBlockedBloom}) {
    const Levels levels = {{.num_runs = 2, .keys_per_run = 1e3, .kind = kind},
                           {.keys_per_run = 1e4, .kind = kind},
                           {.keys_per_run = 1e10, .kind = kind}};
    const double most = kind == FilterKind::kRibbon ? 10 + 9 : 30;
    EXPECT_LE(ChooseLayout(kind, TargetFpr(levels, 0))->bits_per_key, most);
    const double last = TargetFpr(levels, 2);
    EXPECT_GE(TargetFpr(levels, 0), last / 512);
    EXPECT_LT(TargetFpr(levels, 0), last / 256);
  }
}

TEST(LevelRulesTest, UnreachableGoalsHaveLimitedCost) {
  constexpr FilterKind kBloom = FilterKind::kBlockedBloom;
  for (const double runs : {1.0, 8.0, 50.0}) {
    const Levels levels = {{.num_runs = runs, .keys_per_run = 1e3, .kind = kBloom},
                           {.keys_per_run = 1e5, .kind = kBloom},
                           {.keys_per_run = 1e6, .kind = kBloom}};
    const RateGoal goal{.wasted_reads = 1e-6};
    EXPECT_LE(ChooseLayout(kBloom, TargetFpr(levels, 0, goal))->bits_per_key, 30) << runs;
    EXPECT_EQ(AllocateByLevel(levels, goal)->is_reached, AllocateRates(levels, goal)->is_reached);
  }
}

TEST(LevelRulesTest, TheLastLevelHasNoFiltersExceptForRanges) {
  const Levels levels = {
      {.num_runs = 2, .keys_per_run = 1e3}, {.keys_per_run = 1e5}, {.keys_per_run = 1e6}};
  EXPECT_EQ(TargetFpr(levels, 2, {.wasted_reads = 1.1}), 1);
  EXPECT_LT(TargetFpr(levels, 1, {.wasted_reads = 1.1}), 0.2);
  const RateGoal both{.wasted_reads = 1.1, .seek_fraction = 0.5};
  const FilterRates last = MustAllocate(levels, 2, both);
  EXPECT_EQ(last.target_fpr, kMaxTargetFpr);
  EXPECT_EQ(last.range_fpr, kMaxRangeFpr);
  EXPECT_LT(MustAllocate(levels, 0, both).range_fpr, kMaxRangeFpr);
  EXPECT_EQ(MustAllocate(levels, 2).range_fpr, 1);
}

TEST(LevelRulesTest, OneFprIsKept) {
  EXPECT_EQ(TargetFpr({{.keys_per_run = 10}, {.keys_per_run = 1e9}}, 0, {.target_fpr = 0.3}), 0.3);
  EXPECT_FALSE(AllocateByLevel({kNone}, {.bits_per_key = 10}).ok());
}

}  // namespace
}  // namespace blocksieve
