#include "integration/toylsm/filter_rates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "blocksieve/rate_allocation.h"
#include "tests/toylsm/toy_model.h"

// Rates by level: as exact as the sizes of the runs are known, which here is exactly.

namespace blocksieve::toylsm {
namespace {

class FilterRates : public ::testing::Test {
 protected:
  static constexpr uint64_t kNumKeys = 60'000;

  Options MakeOptions() {
    Options options;
    options.env = &env_;
    options.memtable_bytes = 128 << 10;
    options.level1_bytes = 128 << 10;
    options.size_ratio = 4;
    options.file_bytes = 256 << 10;
    options.cache_bytes = 256 << 20;
    options.filter_granule_blocks = 0;
    options.key_filters = {{.kind = FilterKind::kRibbon}};
    return options;
  }

  static std::string Key(uint64_t i) { return "key" + std::to_string(1'000'000'000 + i); }

  void Fill(const Options& options, const std::string& directory = "/db") {
    db_ = MustHave(Db::Open(options, directory));
    std::vector<uint64_t> keys(kNumKeys);
    for (uint64_t i = 0; i < kNumKeys; ++i) keys[i] = 2 * i;
    std::shuffle(keys.begin(), keys.end(), random_);
    for (const uint64_t key : keys) MustBeOk(db_->Put(Key(key), "12345678901234567890"));
    MustBeOk(db_->Flush());
  }

  double BitsPerKey() {
    uint64_t bytes = 0;
    uint64_t entries = 0;
    for (const auto& file : db_->version()->AllFiles()) {
      for (const BlockHandle& filter : file->index().filters) bytes += filter.stored_bytes;
      entries += file->index().num_entries;
    }
    return 8 * static_cast<double>(bytes) / static_cast<double>(entries);
  }

  double WastedReads() {
    db_->counters().Reset();
    for (uint64_t i = 0; i < kNumKeys; ++i) {
      EXPECT_EQ(MustHave(db_->Get(Key(2 * i + 1))), std::nullopt);
    }
    // A block without a filter is read in vain, too, but counted as nothing of a filter.
    return static_cast<double>(db_->counters().Get(Count::kDataBlocksFromDisk) +
                               db_->counters().Get(Count::kDataBlocksFromCache)) /
           kNumKeys;
  }

  // What the best rates for the tree as it is now would give.
  RateAllocation Optimum(double bits_per_key) {
    std::vector<RunGroup> groups;
    for (const toylsm::Run& run : db_->version()->runs) {
      RunGroup& group = groups.emplace_back();
      for (const auto& file : run.files) {
        group.keys_per_run += static_cast<double>(file->index().num_entries);
      }
    }
    return MustHave(AllocateForBitsPerKey(groups, bits_per_key));
  }

  MemoryEnv env_;
  std::unique_ptr<Db> db_;
  std::mt19937_64 random_{11};
};

TEST_F(FilterRates, ABudgetIsKeptAndSpentWell) {
  Options options = MakeOptions();
  options.bits_per_key = 10;
  Fill(options);
  ASSERT_GE(db_->version()->runs.size(), 3u);
  const double bits = BitsPerKey();
  EXPECT_LT(bits, 10.6);  // whole files of a few thousand keys, with footers
  EXPECT_GT(bits, 9);
  EXPECT_LT(WastedReads(), 1.3 * Optimum(bits).wasted_reads);
}

// Half as many again, if a level has just begun: the one above it has the rates of a last level
// until its files are rewritten.
TEST_F(FilterRates, WastedReadsAreAboutAsAskedFor) {
  for (const double asked : {1.2, 0.2, 0.02}) {
    Options options = MakeOptions();
    options.wasted_reads = asked;
    Fill(options, "/db" + std::to_string(asked));
    const double measured = WastedReads();
    EXPECT_LT(measured, 1.5 * asked);
    EXPECT_GT(measured, 0.6 * asked);
  }
}

// A rate for each file, from the runs beside it.
TEST_F(FilterRates, TheRateIsTheBestForTheTreeToBe) {
  Options options = MakeOptions();
  options.bits_per_key = 10;
  Fill(options);
  const std::vector<toylsm::Run>& runs = db_->version()->runs;
  const toylsm::Run& last = runs.back();
  uint64_t entries = 0;
  for (const auto& file : last.files) entries += file->index().num_entries;
  // The last run, written again as it is, gets what it would get now.
  const KeyFilterOptions again = KeyFilterFor(options, runs, last.files, entries, last.level);
  EXPECT_EQ(again.target_fpr, Optimum(10).target_fprs.back());
  // A run of one entry on level 0 gets a far more precise filter.
  EXPECT_LT(KeyFilterFor(options, runs, {}, 1, 0).target_fpr, again.target_fpr / 1000);
  // Levels without filters have none.
  options.key_filters = {{}, {.enabled = false}};
  EXPECT_FALSE(KeyFilterFor(options, runs, {}, 1000, 1).enabled);
  EXPECT_TRUE(KeyFilterFor(options, runs, {}, 1000, 0).enabled);
}

TEST_F(FilterRates, WhatExcludesEachOtherOrCannotBeIsNamed) {
  Options bad = MakeOptions();
  bad.wasted_reads = 0.5;
  bad.bits_per_key = 10;
  EXPECT_EQ(Db::Open(bad, "/bad").status().message(),
            "wasted_reads=0.5, bits_per_key=10 exclude each other; allowed is one of them");
  bad.wasted_reads = std::nullopt;
  bad.bits_per_key = 50;
  EXPECT_EQ(Db::Open(bad, "/bad").status().message(), "bits_per_key is 50; allowed is 0.1 to 32");
  bad.key_filters.clear();  // also if there are no filters that could be so large
  EXPECT_EQ(Db::Open(bad, "/bad").status().message(), "bits_per_key is 50; allowed is 0.1 to 32");
}

}  // namespace
}  // namespace blocksieve::toylsm
