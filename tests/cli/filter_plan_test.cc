#include "integration/cli/advise/filter_plan.h"

#include <gtest/gtest.h>

#include <string>

#include "blocksieve/filter_builder.h"
#include "blocksieve/sizing.h"

namespace blocksieve::cli {
namespace {

// Two files of level 0, and levels of 100,000 and 1,000,000 keys in files of 50,000, unfiltered.
std::vector<FileReport> Files() {
  std::vector<FileReport> files;
  const auto add = [&](int level, uint64_t keys) {
    FileReport& file = files.emplace_back();
    file.place.level = level;
    file.place.is_short_lived = level == 0;
    file.num_entries = keys;
    file.num_bytes = 30 * keys;
  };
  add(0, 10'000);
  add(0, 12'000);
  for (int i = 0; i < 2; ++i) add(1, 50'000);
  for (int i = 0; i < 20; ++i) add(2, 50'000);
  return files;
}

constexpr uint64_t kKeys = 1'122'000;

// With filters as in the plan.
void Apply(const FilterPlan& plan, std::vector<FileReport>* files) {
  for (FileReport& file : *files) {
    for (const LevelFilters& level : plan.levels) {
      if (level.level != file.place.level || level.target_fpr > kMaxTargetFpr) continue;
      file.filter.origin = FilterOrigin::kBlocksieve;
      file.filter.kind = FilterKindName(level.kind);
      file.filter.num_entries = file.num_entries;
      file.filter.predicted_fpr = level.target_fpr;
    }
  }
}

class FilterPlanTest : public ::testing::Test {
 protected:
  std::vector<FileReport> files_ = Files();
  std::vector<RunList> lists_ = SortIntoRuns(files_);
  const std::vector<SortedRun>& runs_ = lists_[0].runs;
  const PlannedTree tree_{runs_};
};

TEST_F(FilterPlanTest, MemoryIsNeverExceededAndWellUsed) {
  for (const uint64_t bytes : {100'000, 500'000, 1'400'000, 2'000'000}) {
    for (const auto plan_for : {PlanForMemory, PlanForOneRate}) {
      const Result<FilterPlan> plan = plan_for(tree_, bytes);
      if (!plan.ok()) {
        // One bit per key is the least that the same rate for all takes.
        EXPECT_LT(8 * bytes, kKeys) << plan.status().message();
        continue;
      }
      EXPECT_LE(plan->filter_bytes, bytes);
      EXPECT_GT(plan->filter_bytes, bytes * 97 / 100) << plan->setting.ToText();
    }
  }
}

TEST_F(FilterPlanTest, PlansWasteTheReadsThatTheyWereMadeFor) {
  for (const double reads : {0.5, 0.03, 0.00123}) {
    const Result<FilterPlan> plan = PlanForWastedReads(tree_, reads);
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    EXPECT_EQ(plan->setting.option, "wasted_reads");
    EXPECT_LE(plan->setting.value, reads);
    EXPECT_GT(plan->setting.value, 0.99 * reads);
    EXPECT_LE(WastedReads(WholeCoverage(runs_), plan->fprs, 1), reads);
    EXPECT_GT(WastedReads(WholeCoverage(runs_), plan->fprs, 1), 0.9 * reads);
  }
}

// The policy thinks that all lookups ask all runs: where that is so, there is nothing to gain.
TEST_F(FilterPlanTest, SameReadsAreReachedWithLessMemoryWhereFewLookupsAskTheSmallRuns) {
  constexpr double kReads = 0.02;
  const RunCoverage whole = WholeCoverage(runs_);
  const RunCoverage last_run_mostly = {{.share = 0.1, .parts = whole[0].parts},
                                       {.share = 0.9, .parts = {whole[0].parts.back()}}};
  const Result<FilterPlan> asked = PlanForWastedReads(tree_, kReads);
  uint64_t least_bytes = asked->filter_bytes;
  for (const RunCoverage& coverage : {whole, last_run_mostly}) {
    const Result<FilterPlan> same = PlanForSameReads(tree_, coverage, kReads);
    ASSERT_TRUE(same.ok()) << same.status().message();
    EXPECT_LE(WastedReads(coverage, same->fprs, 1), kReads);
    EXPECT_GT(WastedReads(coverage, same->fprs, 1), 0.97 * kReads);
    EXPECT_LE(same->filter_bytes, least_bytes);
    least_bytes = asked->filter_bytes * 99 / 100;
  }
}

TEST_F(FilterPlanTest, SpreadMemoryBeatsOneRate) {
  const Result<FilterPlan> spread = PlanForMemory(tree_, 1'400'000);
  const Result<FilterPlan> one_rate = PlanForOneRate(tree_, 1'400'000);
  EXPECT_LT(WastedReads(WholeCoverage(runs_), spread->fprs, 1),
            0.7 * WastedReads(WholeCoverage(runs_), one_rate->fprs, 1));
  EXPECT_LT(spread->levels[0].target_fpr, spread->levels[1].target_fpr);
  EXPECT_LT(spread->levels[1].target_fpr, spread->levels[2].target_fpr);
}

TEST_F(FilterPlanTest, SaysWhatIsTooLittle) {
  for (const auto plan_for : {PlanForMemory, PlanForOneRate}) {
    const Result<FilterPlan> plan = plan_for(tree_, 10);
    ASSERT_FALSE(plan.ok());
    const std::string& message = plan.status().message();
    EXPECT_TRUE(message.starts_with("10 bytes are too few for any filter; the least is "));
    const uint64_t least = std::stoull(message.substr(message.rfind(' ')));
    EXPECT_TRUE(plan_for(tree_, least).ok()) << message;
    EXPECT_FALSE(plan_for(tree_, least - 1).ok()) << message;
  }
  EXPECT_FALSE(PlanForWastedReads(tree_, 1000).ok());
}

TEST_F(FilterPlanTest, AllFilesWithoutFiltersAreRewritten) {
  const Result<FilterPlan> plan = PlanForBitsPerKey(tree_, 10);
  EXPECT_EQ(plan->setting.ToText(), "bits_per_key=10");
  EXPECT_EQ(plan->changes.size(), 24u);
  EXPECT_EQ(plan->rewritten_bytes, 30 * kKeys);
  EXPECT_EQ(plan->rewritten_keys, kKeys);
}

TEST_F(FilterPlanTest, FilesThatAreAsPlannedAreNotRewritten) {
  std::vector<FileReport> files = Files();
  Apply(*PlanForBitsPerKey(tree_, 10), &files);
  files[3].filter.predicted_fpr /= 2;             // of another rate
  files[5].filter.origin = FilterOrigin::kStock;  // of another make
  files[7].filter.kind = "bloom";                 // of another kind
  const std::vector<RunList> lists = SortIntoRuns(files);
  const Result<FilterPlan> plan = PlanForBitsPerKey({lists[0].runs}, 10);
  EXPECT_EQ(plan->changes.size(), 3u);
  EXPECT_EQ(plan->rewritten_keys, 150'000u);
}

TEST_F(FilterPlanTest, NoFiltersArePlannedByLeavingThemOut) {
  const Result<FilterPlan> plan = PlanForWastedReads(tree_, 10);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->filter_bytes, 0u);
  EXPECT_EQ(plan->changes.size(), 0u);
  EXPECT_EQ(plan->fprs, std::vector<double>(4, 1));
}

TEST_F(FilterPlanTest, SmallFiltersAreCountedWithWhatTheyAreRoundedUpTo) {
  files_[0].filter.num_filters = 1000;  // of ten keys each, as of granules
  files_[0].filter.origin = FilterOrigin::kUnreadable;
  const Result<FilterPlan> in_granules = PlanForBitsPerKey(tree_, 10);
  const auto builder = FilterBuilder::Create(
      {.kind = FilterKind::kBlockedBloom, .target_fpr = in_granules->levels[0].target_fpr});
  files_[0].filter.num_filters = 1;
  const Result<FilterPlan> whole = PlanForBitsPerKey(tree_, 10);
  EXPECT_EQ(in_granules->filter_bytes - whole->filter_bytes,
            1000 * builder->BlockBytes(10) - builder->BlockBytes(10'000));
}

}  // namespace
}  // namespace blocksieve::cli
