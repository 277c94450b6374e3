// SPDX-License-Identifier: Apache-2.0

#include "blocksieve/sizing.h"
#include "blocksieve/tree.h"
#include "tests/support/must.h"

namespace blocksieve {
namespace {

constexpr RateGoal kTenBits{.bits_per_key = 10};

// Two files of level 0, and levels of 100,000 and 1,000,000 keys in files of 50,000, unfiltered.
std::vector<TreeFile> Files() {
  std::vector<TreeFile> files = {{.num_keys = 10'000}, {.num_keys = 12'000}};
  for (int i = 0; i < 22; ++i) files.push_back({.level = i < 2 ? 1 : 2, .num_keys = 50'000});
  for (TreeFile& file : files) file.num_bytes = 30 * file.num_keys;
  return files;
}

FilterPlan Plan(const std::vector<TreeFile>& files, const RateGoal& goal = kTenBits,
                bool in_place = false) {
  return testing::Must(PlanFilters(Tree(files), goal, in_place));
}

const auto kAllFiles = [](size_t) { return true; };
const auto kNoFile = [](size_t) { return false; };

FilterPlan PlanToRewrite(const std::vector<TreeFile>& files, const RateGoal& goal = kTenBits,
                         const FilePredicate& is_chosen = kAllFiles,
                         const FilePredicate& changes_parts = kNoFile) {
  FilterPlan plan = testing::Must(PlanRewrites(Tree(files), goal, is_chosen, changes_parts));
  EXPECT_EQ(plan.goal.bits_per_key, goal.bits_per_key);
  return plan;
}

// Gives the files the filters of the plan.
std::vector<TreeFile> Apply(const FilterPlan& plan, bool in_place, std::vector<TreeFile> files) {
  for (const FilterChange& change : plan.changes) {
    TreeFile& file = files[change.file];
    file.has_filter = change.filter_bytes != 0;
    const FilterKind kind = plan.levels[static_cast<size_t>(file.level)].kind;
    file.kind = in_place ? FilterKind::kRibbon : kind;
    file.fpr = change.fpr;
    file.filter_bytes = change.filter_bytes;
  }
  return files;
}

TEST(PlanFiltersTest, FilesThatMatchThePlanDoNotChange) {
  for (const RateGoal& goal :
       {kTenBits, RateGoal{.wasted_reads = 0.02}, RateGoal{.target_fpr = 0.01}}) {
    std::vector<TreeFile> files = Apply(Plan(Files(), goal), /*in_place=*/false, Files());
    EXPECT_EQ(Plan(files, goal).changes.size(), 0u);
    files[0].filter_bytes += 80;  // fitted to an allocation
    files[0].fpr *= 0.9;
    files[3].filter_bytes += 6000;  // another rate
    files[3].fpr /= 2;
    files[5].kind = std::nullopt;               // not ours
    files[7].kind = FilterKind::kBlockedBloom;  // another kind
    const FilterPlan plan = Plan(files, goal);
    EXPECT_EQ(plan.changes.size(), 3u);
    EXPECT_EQ(plan.rewritten_keys, 150'000u);
    EXPECT_EQ(plan.rewritten_bytes, 30u * 150'000);
  }
}

TEST(PlanFiltersTest, FlushedFilesGetBloomFiltersAndRewrittenOnesRibbons) {
  const std::vector<TreeFile> flushed = Apply(Plan(Files()), /*in_place=*/false, Files());
  EXPECT_EQ(flushed[0].kind, FilterKind::kBlockedBloom);
  EXPECT_EQ(flushed[2].kind, FilterKind::kRibbon);
  const FilterPlan in_place = Plan(Files(), kTenBits, /*in_place=*/true);
  EXPECT_LT(in_place.filter_bytes, Plan(Files()).filter_bytes);
  // Both are as planned.
  EXPECT_EQ(Plan(flushed, kTenBits, /*in_place=*/true).changes.size(), 0u);
  EXPECT_EQ(Plan(Apply(in_place, /*in_place=*/true, Files())).changes.size(), 0u);
}

TEST(PlanFiltersTest, CountsTheRoundingOfSmallFilters) {
  std::vector<TreeFile> files = Files();
  const FilterPlan whole = Plan(files);
  files[0].num_filters = 1000;  // ten keys each, as with granules
  const FilterPlan in_granules = Plan(files);
  const Layout layout =
      *ChooseLayout(FilterKind::kBlockedBloom, in_granules.rates.levels[0].target_fpr);
  EXPECT_EQ(in_granules.filter_bytes - whole.filter_bytes,
            1000 * BlockBytes(layout, 10) - BlockBytes(layout, 10'000));
}

TEST(PlanChangesTest, AddsUpWhatChangesSave) {
  std::vector<TreeFile> files = Files();
  files[2].fpr = 0.5;
  files[2].filter_bytes = 1000;
  const Tree tree(files);
  const FilterPlan plan = PlanChanges(tree, {{2, 1, 0}, {3, 0.1, 4000}});
  EXPECT_EQ(plan.filter_bytes, 4000u);
  EXPECT_EQ(plan.rewritten_keys, 100'000u);
  EXPECT_DOUBLE_EQ(plan.fprs[2], (1 + 0.1) / 2);
  ASSERT_EQ(plan.changes.size(), 2u);
  EXPECT_EQ(plan.changes[0].file, 3u);  // it saves reads
  EXPECT_DOUBLE_EQ(plan.changes[0].saved_reads, 0.9 / 2);
  EXPECT_EQ(plan.changes[0].saved_bytes, -4000);
  EXPECT_DOUBLE_EQ(plan.changes[1].saved_reads, -0.5 / 2);
  EXPECT_EQ(plan.changes[1].saved_bytes, 1000);
  const Prediction before = Predict({&tree, 1}, 1);
  const Prediction after = Predict({&tree, 1}, {&plan, 1}, 1);
  EXPECT_NEAR(before.wasted_reads - after.wasted_reads,
              plan.changes[0].saved_reads + plan.changes[1].saved_reads, 1e-9);
  EXPECT_EQ(before.filter_bytes, 1000u);
}

TEST(PlanRewritesTest, RewrittenFilesDoNotQualifyAgain) {
  for (const RateGoal& goal :
       {kTenBits, RateGoal{.wasted_reads = 0.02}, RateGoal{.target_fpr = 0.01}}) {
    const FilterPlan plan = PlanToRewrite(Files(), goal);
    EXPECT_EQ(plan.changes.size(), Files().size());
    std::vector<TreeFile> files = Apply(plan, /*in_place=*/true, Files());
    EXPECT_EQ(PlanToRewrite(files, goal).changes.size(), 0u);
    // Rates and lookup shares change a little with every compaction.
    for (TreeFile& file : files) {
      if (file.level != 1) continue;
      file.num_keys -= file.num_keys / 8;
      file.filter_bytes -= file.filter_bytes / 8;
    }
    EXPECT_EQ(PlanToRewrite(files, goal).changes.size(), 0u);
  }
}

TEST(PlanRewritesTest, SmallGainsCountIfAllTogetherGain) {
  // A fifth more bits than the plan has, in all files or in one.
  const std::vector<TreeFile> planned = Apply(PlanToRewrite(Files()), /*in_place=*/true, Files());
  std::vector<TreeFile> one = planned;
  std::vector<TreeFile> all = Apply(PlanToRewrite(Files(), {.bits_per_key = 10.4}), true, Files());
  one[2] = all[2];
  EXPECT_EQ(PlanToRewrite(one).changes.size(), 0u);
  all = Apply(PlanToRewrite(Files(), {.bits_per_key = 11}), true, Files());
  EXPECT_GT(PlanToRewrite(all).changes.size(), 10u);
}

TEST(PlanRewritesTest, OnlyChosenFilesChangeAndThoseWithOtherParts) {
  const FilterPlan level1 =
      PlanToRewrite(Files(), kTenBits, [](size_t file) { return file == 2 || file == 3; });
  EXPECT_EQ(level1.changes.size(), 2u);
  const std::vector<TreeFile> files = Apply(PlanToRewrite(Files()), true, Files());
  const FilterPlan parts =
      PlanToRewrite(files, kTenBits, kAllFiles, [](size_t file) { return file == 5; });
  ASSERT_EQ(parts.changes.size(), 1u);
  EXPECT_EQ(parts.changes[0].file, 5u);
  EXPECT_TRUE(parts.changes[0].changes_parts);
  EXPECT_EQ(parts.changes[0].saved_bytes, 0);
  EXPECT_EQ(parts.fprs, Plan(files).fprs);
}

TEST(PredictTest, TreesAreWeightedByTheirKeys) {
  const Tree small({{.level = 1, .num_keys = 100, .fpr = 0.5, .filter_bytes = 10}});
  const Tree large({{.level = 1, .num_keys = 300, .fpr = 0.1, .filter_bytes = 30}});
  const std::vector<Tree> trees = {small, large};
  const Prediction sum = Predict(trees, 0.5);
  EXPECT_DOUBLE_EQ(sum.wasted_reads_absent, 0.25 * 0.5 + 0.75 * 0.1);
  EXPECT_DOUBLE_EQ(sum.wasted_reads, sum.wasted_reads_absent / 2);  // one run has all keys
  EXPECT_EQ(sum.filter_bytes, 40u);
  EXPECT_DOUBLE_EQ(WastedReads(trees, std::vector<double>{1, 1}, 1), 1);
  EXPECT_EQ(Predict(std::vector<Tree>(2), 1).wasted_reads, 0);
}

}  // namespace
}  // namespace blocksieve
