// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "blocksieve/tree.h"
#include "tests/support/must.h"

namespace blocksieve {
namespace {

using ::testing::HasSubstr;

constexpr FilterKind kRibbon = FilterKind::kRibbon;
constexpr FilterKind kBloom = FilterKind::kBlockedBloom;

// Level 0 with two files, and three levels below it.
std::vector<TreeLevel> TreeOfRatio(double ratio, FilterKind level0 = kRibbon,
                                   FilterKind others = kRibbon) {
  const double last = 1e7;
  return {{.num_runs = 2, .keys_per_run = last / std::pow(ratio, 3), .kind = level0},
          {.keys_per_run = last / std::pow(ratio, 2), .kind = others},
          {.keys_per_run = last / ratio, .kind = others},
          {.keys_per_run = last, .kind = others}};
}

std::vector<double> TargetFprs(const RatePlan& plan) {
  std::vector<double> fprs;
  for (const FilterRates& rates : plan.levels) fprs.push_back(rates.target_fpr);
  return fprs;
}

// The cost of FPRs, computed independently.
RatePlan ComputeCost(const std::vector<TreeLevel>& groups, const std::vector<double>& fprs) {
  constexpr uint64_t kManyKeys = uint64_t{1} << 30;  // makes rounding negligible
  RatePlan cost;
  double keys = 0;
  for (size_t i = 0; i < groups.size(); ++i) {
    const double num_keys = groups[i].num_runs * groups[i].keys_per_run;
    keys += num_keys;
    cost.wasted_reads += groups[i].num_runs * groups[i].lookup_share * fprs[i];
    if (fprs[i] == 1) continue;
    const Result<Layout> layout = ChooseLayout(groups[i].kind, std::min(fprs[i], kMaxTargetFpr));
    EXPECT_TRUE(layout.ok()) << fprs[i];
    const double share = std::min(ShareOfFpr(fprs[i]), 1.0);  // of files with filters
    cost.bits_per_key += share * num_keys * 8 *
                         static_cast<double>(PayloadBytes(*layout, kManyKeys)) /
                         static_cast<double>(kManyKeys);
  }
  cost.bits_per_key /= keys;
  return cost;
}

RatePlan MustAllocate(const std::vector<TreeLevel>& groups, const RateGoal& goal) {
  const RatePlan allocation = testing::Must(AllocateRates(groups, goal));
  const RatePlan cost = ComputeCost(groups, TargetFprs(allocation));
  // Otherwise FPRs are as requested, and those of layouts a little lower.
  if (allocation.is_reached && !goal.target_fpr) {
    EXPECT_DOUBLE_EQ(allocation.wasted_reads, cost.wasted_reads);
  }
  EXPECT_DOUBLE_EQ(allocation.bits_per_key, cost.bits_per_key);
  return allocation;
}

// A run that one lookup in four checks gets the same FPR as a run with four times its keys.
TEST(RateAllocationTest, RarelyCheckedRunsHaveHighFprs) {
  auto groups = TreeOfRatio(10);
  const RatePlan whole = MustAllocate(groups, {.bits_per_key = 8});
  groups[2].lookup_share = 0.25;
  const RatePlan part = MustAllocate(groups, {.bits_per_key = 8});
  EXPECT_NEAR(part.levels[2].target_fpr / part.levels[3].target_fpr,
              4 * whole.levels[2].target_fpr / whole.levels[3].target_fpr, 0.05);
  // Better than ignoring the lookup share.
  EXPECT_LT(part.wasted_reads, ComputeCost(groups, TargetFprs(whole)).wasted_reads);
  groups[0].lookup_share = 0;
  EXPECT_EQ(MustAllocate(groups, {.wasted_reads = 0.01}).levels[0].target_fpr, 1);
}

TEST(RateAllocationTest, GoalsAreNeverExceededAndNearlyUsedUp) {
  for (const double ratio : {1.5, 4.0, 10.0}) {
    for (const FilterKind level0 : {kRibbon, kBloom}) {
      const auto groups = TreeOfRatio(ratio, level0);
      for (double bits = 1.5; bits < 16; bits *= 1.07) {
        const RatePlan by_bits = MustAllocate(groups, {.bits_per_key = bits});
        EXPECT_LE(by_bits.bits_per_key, bits);
        EXPECT_GT(by_bits.bits_per_key, bits - 0.02) << ratio;
        // The inverse goal ends at the same trade-off.
        const double reads = by_bits.wasted_reads * (1 + 1e-9);
        const RatePlan by_reads = MustAllocate(groups, {.wasted_reads = reads});
        EXPECT_LE(by_reads.wasted_reads, reads);
        EXPECT_GT(by_reads.wasted_reads, 0.98 * reads) << ratio;
        EXPECT_NEAR(by_reads.bits_per_key, by_bits.bits_per_key, 0.02) << bits;
      }
    }
  }
}

// No exchange of one step between two runs saves reads for the same memory.
TEST(RateAllocationTest, NoExchangeBetweenTwoRunsIsBetter) {
  std::mt19937_64 random(7);
  const auto between = [&](double low, double high) {
    return low + (high - low) * 1e-6 * static_cast<double>(random() % 1'000'001);
  };
  for (int round = 0; round < 200; ++round) {
    std::vector<TreeLevel> groups;
    for (int i = 0; i < 4; ++i) {
      groups.push_back({.num_runs = static_cast<double>(1 + random() % 3),
                        .keys_per_run = std::exp2(between(12, 27)),
                        .kind = random() % 2 == 0 ? kRibbon : kBloom});
    }
    const double asked = between(3, 13);
    const RatePlan allocation = MustAllocate(groups, {.bits_per_key = asked});
    for (int exchange = 0; exchange < 100; ++exchange) {
      std::vector<double> fprs = TargetFprs(allocation);
      const auto change = [&](double factor) {
        const size_t i = random() % groups.size();
        if (fprs[i] == 1) return;
        const double fpr = std::clamp(fprs[i] * factor, kMinTargetFpr, kMaxTargetFpr);
        fprs[i] = std::max(ChooseLayout(groups[i].kind, fpr)->predicted_fpr, kMinTargetFpr);
      };
      change(between(1.05, 4));
      change(between(0.25, 0.95));
      const RatePlan changed = ComputeCost(groups, fprs);
      // The memory may be one row of the table short.
      if (changed.bits_per_key > asked) continue;
      EXPECT_GT(changed.wasted_reads, 0.97 * allocation.wasted_reads) << round;
    }
  }
}

TEST(RateAllocationTest, TheLastLevelHasFewOrNoFiltersIfThatIsBest) {
  const auto groups = TreeOfRatio(10);
  const RatePlan little = MustAllocate(groups, {.bits_per_key = 0.8});
  EXPECT_GT(little.levels.back().target_fpr, kMaxTargetFpr);
  EXPECT_LT(little.levels[2].target_fpr, 0.1);
  EXPECT_EQ(MustAllocate(groups, {.bits_per_key = 0.3}).levels.back().target_fpr, 1);
  const RatePlan many_reads = MustAllocate(groups, {.wasted_reads = 1.01});
  EXPECT_GT(many_reads.levels.back().target_fpr, 0.9);
  const RatePlan more_than_runs = MustAllocate(groups, {.wasted_reads = 5});
  EXPECT_EQ(more_than_runs.bits_per_key, 0);
  EXPECT_EQ(more_than_runs.wasted_reads, 5);
}

TEST(RateAllocationTest, UnreachableGoalsGetTheLowestFpr) {
  const std::vector<TreeLevel> many = {{.num_runs = 1000, .keys_per_run = 1e6, .kind = kBloom}};
  const RatePlan rates = MustAllocate(many, {.wasted_reads = 1e-6});
  EXPECT_FALSE(rates.is_reached);
  EXPECT_EQ(rates.levels[0].target_fpr, kMinTargetFpr);
  EXPECT_TRUE(MustAllocate(many, {.wasted_reads = 1}).is_reached);
}

// Other goals: bad_input_test.cc.
TEST(RateAllocationTest, InvalidGoalsAreRejectedWithTheRange) {
  const double nan = std::nan("");
  const struct {
    RateGoal goal;
    std::vector<TreeLevel> groups;
    const char* problem;
  } cases[] = {
      {{},
       TreeOfRatio(10),
       "none of target_fpr, wasted_reads, bits_per_key and filter_bytes is given"},
      {{.bits_per_key = nan}, {}, "bits_per_key"},
      {{.wasted_reads = nan}, {}, "wasted_reads"},
      {{.bits_per_key = 1, .seek_fraction = nan}, {}, "seek_fraction"},
      {{.target_fpr = 0.1, .seek_fraction = 0.5},
       {},
       "seek_fraction=0.5 needs wasted_reads, bits_per_key or"},
      {{.bits_per_key = 10}, {}, "number of keys in all sorted runs is 0"},
      {{.bits_per_key = 10}, {{.keys_per_run = -1}}, "keys_per_run is -1"},
      {{.bits_per_key = 10}, {{.num_runs = nan, .keys_per_run = 1}}, "num_runs"},
      {{.bits_per_key = 10},
       {{.keys_per_run = 1, .lookup_share = 1.5}},
       "lookup_share is 1.5; allowed: 0 to 1"},
  };
  for (const auto& [goal, groups, problem] : cases) {
    const auto rates = AllocateRates(groups, goal);
    ASSERT_FALSE(rates.ok()) << problem;
    EXPECT_THAT(rates.status().message(), HasSubstr(problem));
  }
  EXPECT_TRUE(RateGoal().Check().ok());
}

// With a share of seeks.

const std::vector<TreeLevel> kTree = {
    {.num_runs = 2, .keys_per_run = 1e6},
    {.num_runs = 1, .keys_per_run = 1e7},
    {.num_runs = 1, .keys_per_run = 1e8},
    {.num_runs = 1, .keys_per_run = 1e9},
};

double WastedReads(const RatePlan& rates, double seek_fraction) {
  return (1 - seek_fraction) * rates.wasted_reads + seek_fraction * rates.wasted_seek_reads;
}

TEST(RangeRatesTest, GoalsAreMet) {
  for (const double seek_fraction : {0.01, 0.1, 0.5, 0.9, 0.99}) {
    for (const double bits : {8.0, 12.0, 16.0, 24.0}) {
      const RatePlan rates =
          MustAllocate(kTree, {.bits_per_key = bits, .seek_fraction = seek_fraction});
      const double bits_per_key = rates.bits_per_key + rates.range_bits_per_key;
      EXPECT_LE(bits_per_key, bits * 1.001) << seek_fraction;
      EXPECT_GE(bits_per_key, bits * 0.97) << seek_fraction;
    }
    if (seek_fraction < 0.1 || seek_fraction > 0.9) continue;
    for (const double reads : {0.01, 0.1, 0.5}) {
      const RatePlan rates =
          MustAllocate(kTree, {.wasted_reads = reads, .seek_fraction = seek_fraction});
      EXPECT_LE(WastedReads(rates, seek_fraction), reads * 1.001) << seek_fraction;
      EXPECT_GE(WastedReads(rates, seek_fraction), reads * 0.9) << seek_fraction;
    }
  }
}

// Every other division of the same memory wastes more reads.
TEST(RangeRatesTest, NoOtherDivisionIsBetter) {
  constexpr double kBits = 14;
  for (const double seek_fraction : {0.2, 0.5, 0.8}) {
    const RatePlan rates =
        MustAllocate(kTree, {.bits_per_key = kBits, .seek_fraction = seek_fraction});
    const double wasted_reads = WastedReads(rates, seek_fraction);
    for (double bits = 3; bits < 10; bits += 0.25) {
      const RatePlan points = MustAllocate(kTree, {.bits_per_key = kBits - bits});
      // Range FPRs in proportion to the keys, with this many bits.
      double range_fpr = kMaxRangeFpr;
      const auto with = [&](double largest, auto of_run) {
        double sum = 0;
        for (const TreeLevel& run : kTree) {
          const double fpr =
              std::clamp(largest * run.keys_per_run / 1e9, kMinRangeFpr, kMaxRangeFpr);
          sum += run.num_runs * of_run(run, fpr);
        }
        return sum;
      };
      const auto bits_of = [](const TreeLevel& run, double fpr) {
        return run.keys_per_run / 1.112e9 * RangeBitsPerKey(fpr);
      };
      while (with(range_fpr, bits_of) < bits && range_fpr > 1e-4) range_fpr *= 0.99;
      const double seeks = with(range_fpr, [](const TreeLevel&, double fpr) { return fpr; });
      EXPECT_GE(((1 - seek_fraction) * points.wasted_reads + seek_fraction * seeks) * 1.05,
                wasted_reads)
          << "ranges of " << bits << " bits, seeks " << seek_fraction;
    }
  }
}

}  // namespace
}  // namespace blocksieve
