#include "blocksieve/rate_allocation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "blocksieve/sizing.h"

namespace blocksieve {
namespace {

using ::testing::HasSubstr;

constexpr FilterKind kRibbon = FilterKind::kRibbon;
constexpr FilterKind kBloom = FilterKind::kBlockedBloom;

// Level 0 with two files, and three levels below it.
std::vector<RunGroup> TreeOfRatio(double ratio, FilterKind level0 = kRibbon,
                                  FilterKind others = kRibbon) {
  const double last = 1e7;
  return {{.num_runs = 2, .keys_per_run = last / std::pow(ratio, 3), .kind = level0},
          {.keys_per_run = last / std::pow(ratio, 2), .kind = others},
          {.keys_per_run = last / ratio, .kind = others},
          {.keys_per_run = last, .kind = others}};
}

double BitsOf(const RunGroup& group, double fpr) {
  if (fpr == 1) return 0;
  const Result<Layout> layout = ChooseLayout(group.kind, fpr);
  EXPECT_TRUE(layout.ok()) << fpr;
  // Of so many keys that whole lines and chunks do not count.
  const uint64_t keys = uint64_t{1} << 30;
  return group.num_runs * group.keys_per_run * 8 *
         static_cast<double>(PayloadBytes(*layout, keys)) / static_cast<double>(keys);
}

// What an allocation says of itself, computed again from its rates.
void ExpectConsistent(const std::vector<RunGroup>& groups, const RateAllocation& allocation) {
  ASSERT_EQ(allocation.target_fprs.size(), groups.size());
  double reads = 0;
  double bits = 0;
  double keys = 0;
  for (size_t i = 0; i < groups.size(); ++i) {
    reads += groups[i].num_runs * groups[i].share_of_lookups * allocation.target_fprs[i];
    bits += BitsOf(groups[i], allocation.target_fprs[i]);
    keys += groups[i].num_runs * groups[i].keys_per_run;
  }
  EXPECT_DOUBLE_EQ(allocation.wasted_reads, reads);
  EXPECT_DOUBLE_EQ(allocation.bits_per_key, bits / keys);
}

// A run that one lookup in four asks is worth what one of four times its keys is, per bit and key.
TEST(RateAllocation, RunsThatAreRarelyAskedHaveCoarseFilters) {
  for (const RateGoal& goal : {RateGoal{.bits_per_key = 8}, RateGoal{.wasted_reads = 0.01}}) {
    auto groups = TreeOfRatio(10);
    const auto whole = AllocateRates(groups, goal);
    groups[2].share_of_lookups = 0.25;
    const auto part = AllocateRates(groups, goal);
    ASSERT_TRUE(whole.ok() && part.ok());
    ExpectConsistent(groups, *part);
    const auto ratio = [](const Result<RateAllocation>& rates) {
      return rates->target_fprs[2] / rates->target_fprs[3];
    };
    EXPECT_NEAR(ratio(part) / ratio(whole), 4, 0.4);
    // It is better than to know nothing of it.
    if (goal.wasted_reads) {
      EXPECT_LE(part->wasted_reads, *goal.wasted_reads);
      EXPECT_LT(part->bits_per_key, whole->bits_per_key);
    } else {
      double unaware = 0;
      for (size_t i = 0; i < groups.size(); ++i) {
        unaware += groups[i].num_runs * groups[i].share_of_lookups * whole->target_fprs[i];
      }
      EXPECT_LT(part->wasted_reads, unaware);
    }
  }
}

TEST(RateAllocation, SharesOfLookupsHaveTheirLimits) {
  auto groups = TreeOfRatio(10);
  groups[0].share_of_lookups = 0;  // its filters serve nobody
  const auto none = AllocateForWastedReads(groups, 0.01);
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(none->target_fprs[0], 1);
  groups[0].share_of_lookups = 1.5;
  EXPECT_THAT(AllocateForWastedReads(groups, 0.01).status().message(),
              HasSubstr("share_of_lookups is 1.5; allowed is 0 to 1"));
}

TEST(RateAllocation, MemoryIsNeverExceededAndNearlyUsedUp) {
  for (const double ratio : {1.5, 4.0, 10.0}) {
    for (const FilterKind level0 : {kRibbon, kBloom}) {
      const auto groups = TreeOfRatio(ratio, level0);
      for (double bits = 1.5; bits < 16; bits *= 1.07) {
        const auto allocation = AllocateForBitsPerKey(groups, bits);
        ASSERT_TRUE(allocation.ok()) << allocation.status().message();
        ExpectConsistent(groups, *allocation);
        EXPECT_LE(allocation->bits_per_key, bits);
        EXPECT_GT(allocation->bits_per_key, bits - 0.02) << ratio;
      }
    }
  }
}

TEST(RateAllocation, WastedReadsAreNeverExceededAndNearlyUsedUp) {
  for (const double ratio : {1.5, 4.0, 10.0}) {
    const auto groups = TreeOfRatio(ratio, kBloom);
    for (double reads = 1e-4; reads < 0.6; reads *= 1.3) {
      const auto allocation = AllocateForWastedReads(groups, reads);
      ASSERT_TRUE(allocation.ok()) << allocation.status().message();
      ExpectConsistent(groups, *allocation);
      EXPECT_LE(allocation->wasted_reads, reads);
      EXPECT_GT(allocation->wasted_reads, 0.98 * reads) << ratio;
    }
  }
}

// Both ways of asking end at the same trade.
TEST(RateAllocation, TheTwoWaysAreInverses) {
  for (const double ratio : {2.0, 10.0}) {
    const auto groups = TreeOfRatio(ratio);
    for (double bits = 2; bits < 16; bits += 0.7) {
      const auto by_bits = AllocateForBitsPerKey(groups, bits);
      const auto by_reads = AllocateForWastedReads(groups, by_bits->wasted_reads * (1 + 1e-9));
      EXPECT_NEAR(by_reads->bits_per_key, by_bits->bits_per_key, 0.02) << bits;
    }
  }
}

// Monkey: proportional to the keys, with filters of log2(1/FPR) bits; ribbons are nearly that.
TEST(RateAllocation, RatesAreNearlyProportionalToTheKeys) {
  const auto groups = TreeOfRatio(10);
  const auto allocation = AllocateForBitsPerKey(groups, 10);
  for (size_t i = 0; i < groups.size(); ++i) {
    const double share = allocation->target_fprs[i] / allocation->target_fprs.back();
    const double keys = groups[i].keys_per_run / groups.back().keys_per_run;
    EXPECT_NEAR(std::log2(share), std::log2(keys), 1) << i;
  }
}

// No change of two rates by a step saves reads for the same memory.
TEST(RateAllocation, NoExchangeBetweenTwoRunsIsBetter) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<RunGroup> groups;
    for (int i = 0; i < 4; ++i) {
      groups.push_back({.num_runs = static_cast<double>(1 + random() % 3),
                        .keys_per_run = std::exp2(12 + 0.01 * static_cast<double>(random() % 1500)),
                        .kind = random() % 2 == 0 ? kRibbon : kBloom});
    }
    const double asked = 3 + 0.01 * static_cast<double>(random() % 1000);
    const auto allocation = AllocateForBitsPerKey(groups, asked);
    ASSERT_TRUE(allocation.ok());
    double keys = 0;
    for (const RunGroup& group : groups) keys += group.num_runs * group.keys_per_run;
    const auto with = [&](size_t i, double factor, std::vector<double> fprs) {
      fprs[i] = std::clamp(fprs[i] * factor, kMinTargetFpr, kMaxTargetFpr);
      fprs[i] = std::max(ChooseLayout(groups[i].kind, fprs[i])->predicted_fpr, kMinTargetFpr);
      return fprs;
    };
    const auto reads_and_bits = [&](const std::vector<double>& fprs) {
      std::pair<double, double> sums{0, 0};
      for (size_t i = 0; i < groups.size(); ++i) {
        sums.first += groups[i].num_runs * fprs[i];
        sums.second += BitsOf(groups[i], fprs[i]);
      }
      return sums;
    };
    for (size_t less = 0; less < groups.size(); ++less) {
      for (size_t more = 0; more < groups.size(); ++more) {
        if (less == more || allocation->target_fprs[less] == 1 ||
            allocation->target_fprs[more] == 1) {
          continue;
        }
        for (const double coarser : {1.05, 1.3, 2.0, 4.0}) {
          for (const double finer : {0.95, 0.7, 0.5, 0.25}) {
            const auto changed = with(more, finer, with(less, coarser, allocation->target_fprs));
            const auto [reads, bits] = reads_and_bits(changed);
            // A row of the table is what the memory may be short of.
            if (bits > asked * keys) continue;
            EXPECT_GT(reads, 0.97 * allocation->wasted_reads) << round;
          }
        }
      }
    }
  }
}

TEST(RateAllocation, TheLastLevelGoesWithoutIfThatIsBest) {
  const auto groups = TreeOfRatio(10);
  const auto little = AllocateForBitsPerKey(groups, 0.8);
  EXPECT_EQ(little->target_fprs.back(), 1);
  EXPECT_LT(little->target_fprs[2], 0.01);
  const auto many_reads = AllocateForWastedReads(groups, 1.01);
  EXPECT_EQ(many_reads->target_fprs.back(), 1);
  const auto more_than_runs = AllocateForWastedReads(groups, 5);
  EXPECT_EQ(more_than_runs->bits_per_key, 0);
  EXPECT_EQ(more_than_runs->wasted_reads, 5);
}

TEST(RateAllocation, OneRunGetsItAll) {
  const std::vector<RunGroup> groups = {{.keys_per_run = 1e6, .kind = kBloom}};
  const auto allocation = AllocateForBitsPerKey(groups, 10);
  EXPECT_EQ(allocation->target_fprs[0], LayoutForBitsPerKey(kBloom, 10)->predicted_fpr);
  EXPECT_EQ(AllocateForWastedReads(groups, 0.01)->target_fprs[0],
            ChooseLayout(kBloom, 0.01)->predicted_fpr);
}

TEST(RateAllocation, EmptyRunsCostNothing) {
  const std::vector<RunGroup> groups = {
      {.keys_per_run = 0}, {.num_runs = 0, .keys_per_run = 0}, {.keys_per_run = 1e6}};
  const auto allocation = AllocateForBitsPerKey(groups, 10);
  ASSERT_TRUE(allocation.ok());
  EXPECT_NEAR(allocation->bits_per_key, 10, 0.07);
}

TEST(RateAllocation, MoreMemoryThanAnyFilterNeedsIsLeft) {
  const auto groups = TreeOfRatio(10);
  const auto allocation = AllocateForBitsPerKey(groups, 32);
  ASSERT_TRUE(allocation.ok());
  EXPECT_LT(allocation->bits_per_key, 25);
  for (const double fpr : allocation->target_fprs) EXPECT_LT(fpr, 1.1e-7);
}

TEST(RateAllocation, WhatCannotBeIsRefusedWithItsRange) {
  const auto groups = TreeOfRatio(10);
  const auto problem = [&](const Result<RateAllocation>& result) {
    return result.ok() ? "" : result.status().message();
  };
  EXPECT_THAT(problem(AllocateForBitsPerKey(groups, 0.05)),
              HasSubstr("bits_per_key is 0.05; allowed is 0.1 to 32"));
  EXPECT_THAT(problem(AllocateForBitsPerKey(groups, std::nan(""))), HasSubstr("bits_per_key"));
  EXPECT_THAT(problem(AllocateForWastedReads(groups, 0)),
              HasSubstr("wasted_reads is 0; allowed is 1e-06 to 100"));
  EXPECT_THAT(problem(AllocateForWastedReads(groups, std::nan(""))), HasSubstr("wasted_reads"));
  EXPECT_THAT(problem(AllocateForBitsPerKey({}, 10)), HasSubstr("number of keys"));
  const std::vector<RunGroup> negative = {{.keys_per_run = -1}};
  EXPECT_THAT(problem(AllocateForBitsPerKey(negative, 10)), HasSubstr("keys_per_run is -1"));
  const std::vector<RunGroup> no_number = {{.num_runs = std::nan(""), .keys_per_run = 1}};
  EXPECT_THAT(problem(AllocateForBitsPerKey(no_number, 10)), HasSubstr("num_runs"));
  const std::vector<RunGroup> classic = {{.keys_per_run = 1, .kind = FilterKind::kClassicBloom}};
  EXPECT_THAT(problem(AllocateForBitsPerKey(classic, 10)), HasSubstr("classic"));
  const std::vector<RunGroup> many = {{.num_runs = 1000, .keys_per_run = 1e6}};
  EXPECT_THAT(problem(AllocateForWastedReads(many, 1e-6)),
              HasSubstr("wasted_reads is 1e-06; no filters of these sorted runs waste so few"));
}

TEST(RateGoal, EachWayIsServed) {
  const auto groups = TreeOfRatio(10);
  EXPECT_EQ(AllocateRates(groups, {.bits_per_key = 10})->target_fprs,
            AllocateForBitsPerKey(groups, 10)->target_fprs);
  EXPECT_EQ(AllocateRates(groups, {.wasted_reads = 0.01})->target_fprs,
            AllocateForWastedReads(groups, 0.01)->target_fprs);
  const auto same = AllocateRates(groups, {.target_fpr = 1.0 / 64});
  EXPECT_EQ(same->target_fprs, std::vector<double>(groups.size(), 1.0 / 64));
  ExpectConsistent(groups, *same);
}

TEST(RateGoal, WhatNoFiltersReachIsTheMostPreciseOnes) {
  const std::vector<RunGroup> many = {{.num_runs = 1000, .keys_per_run = 1e6, .kind = kBloom}};
  ASSERT_FALSE(AllocateForWastedReads(many, 1e-6).ok());
  EXPECT_EQ(AllocateRates(many, {.wasted_reads = 1e-6})->target_fprs[0], kMinTargetFpr);
}

TEST(RateGoal, ProblemsAreNamed) {
  const auto problem = [](const RateGoal& goal) { return goal.Check().message(); };
  EXPECT_EQ(problem({}), "");
  EXPECT_EQ(problem({.target_fpr = 0.01, .bits_per_key = 10}),
            "target_fpr=0.01, bits_per_key=10 exclude each other; allowed is one of them");
  EXPECT_EQ(problem({.target_fpr = 0.6}), "target_fpr is 0.6; allowed is 1e-07 to 0.5");
  EXPECT_EQ(problem({.wasted_reads = 101}), "wasted_reads is 101; allowed is 1e-06 to 100");
  EXPECT_EQ(problem({.bits_per_key = 50}), "bits_per_key is 50; allowed is 0.1 to 32");
  EXPECT_THAT(AllocateRates(TreeOfRatio(10), {}).status().message(), HasSubstr("none of"));
  EXPECT_THAT(AllocateRates({}, {.bits_per_key = 10}).status().message(),
              HasSubstr("number of keys"));
}

}  // namespace
}  // namespace blocksieve
