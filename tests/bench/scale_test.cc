#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>

#include "bench/scale/built_tree.h"
#include "bench/scale/model.h"
#include "bench/scale/one_filter.h"
#include "bench/scale/targets.h"
#include "bench/scale/tree_model.h"

namespace blocksieve::bench::scale {
namespace {

const Asking kSameRate{Asking::Way::kTargetFpr, 0.01};
const Asking kWastedReads{Asking::Way::kWastedReads, 0.01};
const Asking kBitsPerKey{Asking::Way::kBitsPerKey, 10};

TEST(TreeModelTest, LevelsAddUpAndEachIsTenTimesTheOneBefore) {
  for (const uint64_t keys : ComputedKeys()) {
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

TEST(TreeModelTest, EveryWayOfAskingIsKeptTo) {
  for (const uint64_t keys : {uint64_t{30'000'000}, uint64_t{1'000'000'000'000}}) {
    const TreePlan same_rate = PlanTree(keys, kSameRate);
    EXPECT_THAT(same_rate.target_fprs, testing::Each(0.01));
    EXPECT_LE(same_rate.wasted_reads, 0.01 * static_cast<double>(same_rate.level_keys.size()));
    EXPECT_LE(PlanTree(keys, kWastedReads).wasted_reads, 0.01);
    EXPECT_LE(PlanTree(keys, kBitsPerKey).bits_per_key, 10);
  }
}

TEST(ScaleTest, BuiltFiltersAreAsComputed) {
  Results results;
  results.filters = {MeasureFilter(FilterKind::kRibbon, 0.01, 1'000'000)};
  results.trees = {MeasureTree(2'000'000, kSameRate), MeasureTree(2'000'000, kBitsPerKey)};
  results.analyses = {{.files = 2, .granules = 100, .rows = 6400, .bytes = 8000, .seconds = 1e-6}};
  const Constants constants = ConstantsOf(results);
  EXPECT_DOUBLE_EQ(constants.seconds_per_file, 5e-7);
  EXPECT_DOUBLE_EQ(constants.index_bytes, 1.25);
  const Targets targets = JudgeTargets(results);
  for (const Target& target : targets.all()) {
    EXPECT_EQ(target.is_met(), target.what != "keys of the largest filter built") << target.what;
  }
}

TEST(ScaleTest, ADeniedKeyIsATargetMissed) {
  Results results;
  results.filters = {{.kind = FilterKind::kRibbon,
                      .keys = 300'000'000,
                      .target_fpr = 0.01,
                      .table_fpr = 0.01,
                      .table_bytes = 1,
                      .bytes = 1,
                      .fpr = 0.01,
                      .false_negatives = 1}};
  results.analyses = {{.files = 1, .granules = 1, .rows = 64, .bytes = 80, .seconds = 1e-6}};
  const Targets targets = JudgeTargets(results);
  EXPECT_EQ(targets.num_met(), targets.all().size() - 1);
  EXPECT_FALSE(targets.all().front().is_met());
}

}  // namespace
}  // namespace blocksieve::bench::scale
