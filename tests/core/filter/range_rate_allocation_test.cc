#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "blocksieve/range_filter.h"
#include "blocksieve/rate_allocation.h"

namespace blocksieve {
namespace {

const std::vector<RunGroup> kTree = {
    {.num_runs = 2, .keys_per_run = 1e6},
    {.num_runs = 1, .keys_per_run = 1e7},
    {.num_runs = 1, .keys_per_run = 1e8},
    {.num_runs = 1, .keys_per_run = 1e9},
};

double WastedReads(const RangeRateAllocation& rates, double seek_fraction) {
  return (1 - seek_fraction) * rates.points.wasted_reads + seek_fraction * rates.wasted_seek_reads;
}

double BitsPerKey(const RangeRateAllocation& rates) {
  return rates.points.bits_per_key + rates.range_bits_per_key;
}

TEST(RangeRateAllocation, KeepsTheBudget) {
  for (const double bits : {8.0, 12.0, 16.0, 24.0}) {
    for (const double seek_fraction : {0.01, 0.1, 0.5, 0.9, 0.99}) {
      const auto rates = AllocateRatesWithRanges(kTree, {.bits_per_key = bits}, seek_fraction);
      ASSERT_TRUE(rates.ok()) << rates.status().message();
      EXPECT_LE(BitsPerKey(*rates), bits * 1.001) << seek_fraction;
      EXPECT_GE(BitsPerKey(*rates), bits * 0.97) << seek_fraction;
    }
  }
}

TEST(RangeRateAllocation, WastesNoMoreThanAskedFor) {
  for (const double wasted_reads : {0.01, 0.1, 0.5}) {
    for (const double seek_fraction : {0.1, 0.5, 0.9}) {
      const auto rates =
          AllocateRatesWithRanges(kTree, {.wasted_reads = wasted_reads}, seek_fraction);
      ASSERT_TRUE(rates.ok()) << rates.status().message();
      EXPECT_LE(WastedReads(*rates, seek_fraction), wasted_reads * 1.001) << seek_fraction;
      EXPECT_GE(WastedReads(*rates, seek_fraction), wasted_reads * 0.9) << seek_fraction;
    }
  }
}

// Any other division of the same memory wastes more.
TEST(RangeRateAllocation, NoOtherDivisionIsBetter) {
  constexpr double kBits = 14;
  for (const double seek_fraction : {0.2, 0.5, 0.8}) {
    const auto rates = AllocateRatesWithRanges(kTree, {.bits_per_key = kBits}, seek_fraction);
    ASSERT_TRUE(rates.ok());
    const double wasted_reads = WastedReads(*rates, seek_fraction);
    for (double bits = 3; bits < 10; bits += 0.25) {
      const auto points = AllocateForBitsPerKey(kTree, kBits - bits);
      ASSERT_TRUE(points.ok());
      // Rates of ranges in proportion to the keys, with so many bits.
      double range_fpr = kMaxRangeFpr;
      const auto with = [&](double largest, auto of_run) {
        double sum = 0;
        for (const RunGroup& run : kTree) {
          const double fpr =
              std::clamp(largest * run.keys_per_run / 1e9, kMinRangeFpr, kMaxRangeFpr);
          sum += run.num_runs * of_run(run, fpr);
        }
        return sum;
      };
      const auto bits_of = [](const RunGroup& run, double fpr) {
        return run.keys_per_run / 1.112e9 * RangeBitsPerKey(fpr);
      };
      while (with(range_fpr, bits_of) < bits && range_fpr > 1e-4) range_fpr *= 0.99;
      const double seeks = with(range_fpr, [](const RunGroup&, double fpr) { return fpr; });
      EXPECT_GE(((1 - seek_fraction) * points->wasted_reads + seek_fraction * seeks) * 1.05,
                wasted_reads)
          << "ranges of " << bits << " bits, seeks " << seek_fraction;
    }
  }
}

TEST(RangeRateAllocation, SmallRunsGetPreciseRangesAsTheyGetPrecisePoints) {
  const auto rates = AllocateRatesWithRanges(kTree, {.bits_per_key = 14}, 0.5);
  ASSERT_TRUE(rates.ok());
  ASSERT_EQ(rates->range_fprs.size(), kTree.size());
  for (size_t i = 0; i + 1 < kTree.size(); ++i) {
    EXPECT_NEAR(rates->range_fprs[i + 1] / rates->range_fprs[i], 10, 2) << i;
  }
}

TEST(RangeRateAllocation, NamesAShareOutOfRange) {
  for (const double seek_fraction : {0.0, 1.0, -0.5, std::nan("")}) {
    const auto rates = AllocateRatesWithRanges(kTree, {.bits_per_key = 14}, seek_fraction);
    ASSERT_FALSE(rates.ok());
    EXPECT_NE(rates.status().message().find("seek_fraction"), std::string::npos);
    EXPECT_NE(rates.status().message().find("0.01 to 0.99"), std::string::npos);
  }
}

}  // namespace
}  // namespace blocksieve
