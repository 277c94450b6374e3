// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/policy/filter_bits.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "blocksieve/filter.h"
#include "blocksieve/sizing.h"
#include "tests/support/must.h"

namespace blocksieve::rocksdb_plugin {
namespace {

using testing::Must;

constexpr size_t kTrailerBytes = 5;  // RocksDB reads a block with its trailer

FilterBuilder FillBuilder(const FilterOptions& options, uint64_t num_keys, uint64_t seed = 0) {
  FilterBuilder builder = *FilterBuilder::Create(options);
  for (uint64_t i = 0; i < num_keys; ++i) builder.AddHash((seed + i + 1) * 0x9E3779B97F4A7C15u);
  return builder;
}

// Allocators, as functions to their size classes.
size_t Exact(size_t bytes) { return bytes; }
size_t PowersOfTwo(size_t bytes) {
  size_t size = 64;
  while (size < bytes) size *= 2;
  return size;
}
// jemalloc: four classes per doubling.
size_t Quarters(size_t bytes) {
  size_t step = 16;
  while (bytes > 8 * step) step *= 2;
  return (bytes + step - 1) / step * step;
}
size_t Pages(size_t bytes) { return (bytes + 4095) / 4096 * 4096; }

constexpr size_t (*kAllocators[])(size_t) = {Exact, PowersOfTwo, Quarters, Pages};

class MemoryFitTest : public ::testing::TestWithParam<size_t (*)(size_t)> {
 protected:
  struct Totals {
    double keys = 0;
    double expected_positives = 0;  // sum of keys x FPR
    double allocated = 0;
    double used = 0;
    double waste() const { return (allocated - used) / allocated; }
  };

  // 200 filters of 200 to 40,000 keys, with or without the fit.
  static Totals Fill(double target_fpr, MemoryFit* fit) {
    Totals totals;
    std::mt19937_64 random(7);
    for (int i = 0; i < 200; ++i) {
      const auto num_keys = static_cast<uint64_t>(
          200 * std::pow(200, std::uniform_real_distribution<double>()(random)));
      FilterBuilder builder = FillBuilder({.target_fpr = target_fpr}, num_keys, random());
      const Layout layout = fit == nullptr ? builder.layout() : fit->Fit(builder);
      const OwnedBytes block = Must(builder.Finish(layout)).block;
      const FilterDescription info = Must(DescribeFilter(block.view()));
      EXPECT_TRUE(Filter::Verify(block.view()).ok());
      const auto keys = static_cast<double>(num_keys);
      totals.keys += keys;
      totals.expected_positives += keys * info.predicted_fpr;
      totals.used += static_cast<double>(block.size + kTrailerBytes);
      totals.allocated += static_cast<double>(GetParam()(block.size + kTrailerBytes));
      // No single filter gets much worse.
      EXPECT_LE(info.predicted_fpr, kMaxTargetFpr * 1.05);
    }
    return totals;
  }
};

TEST_P(MemoryFitTest, WasteFallsWhileTheAverageFprStaysAtTheTarget) {
  for (const double target : {0.1, 0.01, 0.001}) {
    SCOPED_TRACE(target);
    MemoryFit fit(GetParam());
    const Totals fitted = Fill(target, &fit);
    const Totals plain = Fill(target, nullptr);
    EXPECT_LE(fitted.expected_positives / fitted.keys, target * 1.005);
    EXPECT_GE(fit.balance(), 0);
    // Filters take no more memory, and fill it.
    EXPECT_LE(fitted.allocated, plain.allocated * 1.001);
    if (plain.waste() < 0.01) continue;  // nothing to gain
    EXPECT_LT(fitted.waste(), 0.5 * plain.waste());
  }
}

INSTANTIATE_TEST_SUITE_P(Allocators, MemoryFitTest, ::testing::ValuesIn(kAllocators));

void ExpectToStayInItsAllocation(size_t (*usable_bytes)(size_t), uint64_t num_keys) {
  MemoryFit fit(usable_bytes);
  FilterBuilder builder = FillBuilder({}, num_keys);
  const uint64_t plain = BlockBytes(builder.layout(), num_keys);
  ASSERT_LE(Must(builder.Finish(fit.Fit(builder))).block.size + kTrailerBytes,
            usable_bytes(plain + kTrailerBytes))
      << num_keys;
}

TEST(MemoryFitBitsTest, AFilterNeverLeavesItsAllocation) {
  for (const auto usable_bytes : kAllocators) {
    for (uint64_t num_keys = 1; num_keys < 150000; num_keys += 1 + num_keys / 30) {
      ASSERT_NO_FATAL_FAILURE(ExpectToStayInItsAllocation(usable_bytes, num_keys));
    }
  }
  // From 128 KiB on, filters align their lines and grow by some bytes.
  for (uint64_t num_keys = 104000; num_keys < 110000; num_keys += 61) {
    ASSERT_NO_FATAL_FAILURE(ExpectToStayInItsAllocation(PowersOfTwo, num_keys));
  }
}

// A filter within the budget must not be lost to fill its allocation.
TEST(MemoryFitBitsTest, TheBudgetOfABuildIsKept) {
  constexpr uint64_t kKeys = 2000;
  FilterOptions options;
  // The minimum budget that is enough without MemoryFit.
  for (options.max_build_bytes = 1000;; options.max_build_bytes += 64) {
    if (FillBuilder(options, kKeys).Finish().ok()) break;
  }
  FilterBuilder builder = FillBuilder(options, kKeys);
  MemoryFit fit(PowersOfTwo);
  EXPECT_TRUE(builder.Finish(fit.Fit(builder)).ok());
}

}  // namespace
}  // namespace blocksieve::rocksdb_plugin
