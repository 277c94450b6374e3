#include "integration/cli/advise/filter_plan.h"

#include <gtest/gtest.h>

#include <string>

#include "blocksieve/sizing.h"
#include "integration/cli/database/filter_options.h"
#include "lib/filter/block_sizing.h"

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

// Gives the files the filters of the plan.
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

constexpr RateGoal kTenBits{.bits_per_key = 10};

class FilterPlanTest : public ::testing::Test {
 protected:
  double ReadsOf(const FilterPlan& plan) { return forest_.WastedReads(plan.fprs, 1); }

  std::vector<FileReport> files_ = Files();
  Forest forest_{SortIntoRuns(files_)};
};

TEST_F(FilterPlanTest, PlansUseTheMemoryAndNeverExceedIt) {
  for (const uint64_t bytes : {100'000, 500'000, 1'400'000, 2'000'000}) {
    for (const auto plan_for : {PlanForMemory, PlanForOneRate}) {
      const Result<FilterPlan> plan = plan_for(forest_, bytes);
      if (!plan.ok()) {
        // One bit per key is the least that the same rate for all takes.
        EXPECT_LT(8 * bytes, kKeys) << plan.status().message();
        continue;
      }
      EXPECT_LE(plan->filter_bytes, bytes);
      EXPECT_GT(plan->filter_bytes, bytes * 97 / 100) << GoalText(PolicyFor(plan->goal));
    }
  }
}

TEST_F(FilterPlanTest, PlansMeetTheirWastedReads) {
  for (const double reads : {0.5, 0.03, 0.00123}) {
    const Result<FilterPlan> plan = PlanForWastedReads(forest_, reads);
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    EXPECT_TRUE(plan->goal.wasted_reads);
    EXPECT_LE(*plan->goal.wasted_reads, reads);
    EXPECT_GT(*plan->goal.wasted_reads, 0.99 * reads);
    EXPECT_LE(ReadsOf(*plan), reads);
    EXPECT_GT(ReadsOf(*plan), 0.9 * reads);
  }
}

TEST_F(FilterPlanTest, SameReadsAreReachedWithLessMemoryWhereFewLookupsCheckTheSmallRuns) {
  constexpr double kReads = 0.02;
  uint64_t most_bytes = PlanForWastedReads(forest_, kReads)->filter_bytes;
  lsm::KeySegment all{.lookup_share = 0.1, .parts = {}};
  for (size_t i = 0; i < forest_.lists[0].runs.size(); ++i) all.parts.push_back({i, 1});
  const lsm::Coverage last_run_mostly = {all, {.lookup_share = 0.9, .parts = {all.parts.back()}}};
  for (const lsm::Coverage& coverage : {lsm::Coverage(), last_run_mostly}) {
    forest_.lists[0].tree = lsm::Tree(ModelOf(forest_.lists[0].runs), coverage);
    const Result<FilterPlan> same = PlanForSameReads(forest_, kReads);
    ASSERT_TRUE(same.ok()) << same.status().message();
    EXPECT_LE(ReadsOf(*same), kReads);
    EXPECT_GT(ReadsOf(*same), 0.97 * kReads);
    EXPECT_LE(same->filter_bytes, most_bytes);
    most_bytes = most_bytes * 99 / 100;
  }
}

TEST_F(FilterPlanTest, RefusesTooLittleMemory) {
  for (const auto plan_for : {PlanForMemory, PlanForOneRate}) {
    const Result<FilterPlan> plan = plan_for(forest_, 10);
    ASSERT_FALSE(plan.ok());
    const std::string& message = plan.status().message();
    EXPECT_TRUE(message.starts_with("memory is 10 bytes; allowed: at least "));
    std::string digits = message.substr(message.find("least ") + 6);
    std::erase(digits, ',');
    const uint64_t least = std::stoull(digits);
    EXPECT_TRUE(plan_for(forest_, least).ok()) << message;
    EXPECT_FALSE(plan_for(forest_, least - 1).ok()) << message;
  }
  EXPECT_FALSE(PlanForWastedReads(forest_, 1000).ok());
}

TEST_F(FilterPlanTest, FilesThatMatchThePlanAreNotRewritten) {
  std::vector<FileReport> files = Files();
  Apply(*PlanForGoal(forest_, kTenBits), &files);
  files[3].filter.predicted_fpr /= 2;             // another rate
  files[5].filter.origin = FilterOrigin::kStock;  // not ours
  files[7].filter.kind = "bloom";                 // another kind
  const std::vector<RunList> lists = SortIntoRuns(files);
  const Result<FilterPlan> plan = PlanForGoal(PlannedTree{lists[0]}, kTenBits);
  EXPECT_EQ(plan->changes.size(), 3u);
  EXPECT_EQ(plan->rewritten_keys, 150'000u);
}

TEST_F(FilterPlanTest, CountsTheRoundingOfSmallFilters) {
  files_[0].filter.num_filters = 1000;  // ten keys each, as with granules
  files_[0].filter.origin = FilterOrigin::kUnreadable;
  const Result<FilterPlan> in_granules = PlanForGoal(forest_, kTenBits);
  const Layout layout = *ChooseLayout(FilterKind::kBlockedBloom, in_granules->levels[0].target_fpr);
  files_[0].filter.num_filters = 1;
  const Result<FilterPlan> whole = PlanForGoal(forest_, kTenBits);
  EXPECT_EQ(in_granules->filter_bytes - whole->filter_bytes,
            1000 * BlockBytes(layout, 10) - BlockBytes(layout, 10'000));
}

// Twice the tree takes twice the memory of the same filters.
TEST_F(FilterPlanTest, OneLimitIsForAllColumnFamilies) {
  Forest two = forest_;
  two.lists.push_back(forest_.lists[0]);
  for (const uint64_t bytes : {500'000, 2'000'000}) {
    const Result<FilterPlan> one = PlanForMemory(forest_, bytes);
    const Result<FilterPlan> both = PlanForMemory(two, 2 * bytes);
    ASSERT_TRUE(one.ok() && both.ok());
    EXPECT_EQ(both->goal.bits_per_key, one->goal.bits_per_key);
    EXPECT_EQ(both->filter_bytes, 2 * one->filter_bytes);
    EXPECT_EQ(both->fprs.size(), 2 * one->fprs.size());
    EXPECT_DOUBLE_EQ(two.WastedReads(both->fprs, 1), ReadsOf(*one));
  }
}

}  // namespace
}  // namespace blocksieve::cli
