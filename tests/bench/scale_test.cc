#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>

#include "bench/scale/filters.h"
#include "bench/scale/model.h"

namespace blocksieve::bench::scale {
namespace {

const FilterGoal kSameRate{"target_fpr=0.01", {.target_fpr = 0.01}};
const FilterGoal kWastedReads{"wasted_reads=0.01", {.wasted_reads = 0.01}};
const FilterGoal kBitsPerKey{"bits_per_key=10", {.bits_per_key = 10}};

TEST(TreeModelTest, LevelsAddUpAndEachIsTenTimesThePreviousOne) {
  for (const uint64_t keys : ComputedKeys(8)) {
    const std::vector<uint64_t> levels = PlanTree(keys, kSameRate).level_keys;
    EXPECT_EQ(std::accumulate(levels.begin(), levels.end(), uint64_t{0}), keys);
    for (size_t i = 1; i < levels.size(); ++i) {
      EXPECT_NEAR(static_cast<double>(levels[i]) / static_cast<double>(levels[i - 1]), 10, 0.01);
    }
  }
  EXPECT_EQ(PlanTree(9'999'999, kSameRate).level_keys.size(), 1U);
  EXPECT_EQ(PlanTree(10'000'000, kSameRate).level_keys.size(), 2U);
  EXPECT_EQ(PlanTree(1'000'000'000'000, kSameRate).level_keys.size(), 7U);
}

TEST(TreeModelTest, EveryGoalIsMet) {
  for (const uint64_t keys : {uint64_t{30'000'000}, uint64_t{1'000'000'000'000}}) {
    const TreePlan same_rate = PlanTree(keys, kSameRate);
    EXPECT_LE(same_rate.wasted_reads, 0.01 * static_cast<double>(same_rate.level_keys.size()));
    EXPECT_LE(PlanTree(keys, kWastedReads).wasted_reads, 0.01);
    EXPECT_LE(8 * PlanTree(keys, kBitsPerKey).filter_bytes, 10 * static_cast<double>(keys));
  }
}

TEST(ScaleTest, BuiltFiltersAreAsComputed) {
  const FilterResult filter = MeasureFilter(FilterKind::kRibbon, 0.01, 1'000'000);
  EXPECT_EQ(filter.false_negatives, 0U);
  EXPECT_LE(filter.fpr, 0.01 * 1.01);
  EXPECT_NEAR(filter.bytes_against_table, 1, 0.01);
  EXPECT_NEAR(filter.fpr_against_table, 1, 0.05);
}

}  // namespace
}  // namespace blocksieve::bench::scale
