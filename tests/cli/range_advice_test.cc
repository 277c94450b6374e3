#include "integration/cli/advise/advice.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace blocksieve::cli {
namespace {

constexpr uint64_t kKeysPerFile = 5000;

class RangeAdviceTest : public ::testing::Test {
 protected:
  // `files_of_runs`: number of files of each run.
  void MakeRuns(const std::vector<size_t>& files_of_runs) {
    for (size_t level = 0; level < files_of_runs.size(); ++level) {
      for (size_t i = 0; i < files_of_runs[level]; ++i) {
        FileReport& file = files_.emplace_back();
        file.place.level = static_cast<int>(level) + 1;
        file.place.path = std::to_string(level) + "/" + std::to_string(i);
        file.num_entries = kKeysPerFile;
      }
    }
  }

  // `is_damaged`: files can be read up to half of their keys.
  SeekAdvice Advise(const SeekWorkload& seeks, bool is_damaged = false) {
    const auto keys_of_file = [&](const FileReport& file,
                                  const std::function<void(std::string_view)>& visit) {
      read_.push_back(file.place.path);
      std::set<std::string> keys;
      while (keys.size() < kKeysPerFile) {
        const uint64_t number = random_();
        const std::string account = std::to_string(number % num_accounts_) + ":";
        keys.insert((num_accounts_ == 1 ? "" : account) + std::to_string(number));
      }
      uint64_t num_visited = 0;
      for (const std::string& key : keys) {
        if (num_visited++ == kKeysPerFile / 2 && is_damaged) break;
        visit(key);
      }
    };
    return AdviseSeeks(
        {files_, rocksdb_plugin::TreesOf(files_)},
        {.seeks = seeks, .wasted_per_lookup = 0.5, .planned_wasted_per_lookup = 0.25},
        keys_of_file);
  }

  uint64_t num_accounts_ = 1;  // 1: keys have no delimiter
  std::mt19937_64 random_{1};
  std::vector<FileReport> files_;
  std::vector<std::string> read_;
};

TEST_F(RangeAdviceTest, ExtrapolatesFromFilesThroughoutTheRun) {
  MakeRuns({1, 7});
  const SeekAdvice advice = Advise({.fraction = 1, .range_width = 0});
  EXPECT_EQ(read_, (std::vector<std::string>{"1/3", "0/0", "1/1", "1/3", "1/5"}));
  ASSERT_EQ(advice.runs.size(), 2u);
  EXPECT_EQ(advice.runs[1].sampled_files, 3u);
  EXPECT_EQ(advice.runs[1].sampled_keys, 3 * kKeysPerFile);
  const uint64_t first_bytes = advice.runs[0].ranges.num_bytes;
  const uint64_t second_bytes = advice.runs[1].ranges.num_bytes;
  const auto bytes = static_cast<double>(first_bytes);
  EXPECT_NEAR(static_cast<double>(second_bytes), 7 * bytes, 0.02 * 7 * bytes);
  EXPECT_EQ(advice.ranges.num_bytes, first_bytes + second_bytes);
  EXPECT_EQ(advice.ranges.current_blocks, 2);
  EXPECT_NEAR(advice.ranges.blocks, 2 * 0.011, 0.006);
  EXPECT_EQ(advice.ranges.do_not_pay, "");
  EXPECT_EQ(advice.rule, "");
  EXPECT_TRUE(advice.has_ranges());
  EXPECT_FALSE(advice.has_prefixes());
}

TEST_F(RangeAdviceTest, WeightsLookupsAndSeeks) {
  MakeRuns({1});
  const SeekAdvice advice = Advise({.fraction = 0.2, .range_width = 1});
  EXPECT_DOUBLE_EQ(advice.empty_share, std::exp(-1));
  const PartAdvice& ranges = advice.ranges;
  EXPECT_DOUBLE_EQ(ranges.current_wasted_reads, 0.8 * 0.5 + 0.2 * std::exp(-1));
  EXPECT_DOUBLE_EQ(ranges.wasted_reads, 0.8 * 0.25 + 0.2 * std::exp(-1) * ranges.blocks);
  EXPECT_NE(Advise({.fraction = 0.0005, .range_width = 0}).ranges.do_not_pay, "");
}

TEST_F(RangeAdviceTest, CountsCurrentFilters) {
  MakeRuns({2});
  files_[0].filter.ranges = {.num_filters = 1, .num_bytes = 0, .fpr = 0.02};
  EXPECT_DOUBLE_EQ(Advise({.fraction = 1}).ranges.current_blocks, (1 + 0.02) / 2);
  files_[1].filter = files_[0].filter;
  const PartAdvice ranges = Advise({.fraction = 0.01}).ranges;
  EXPECT_DOUBLE_EQ(ranges.current_blocks, 0.02);
  EXPECT_EQ(ranges.do_not_pay, "the current range filters save as much");
}

TEST_F(RangeAdviceTest, PricesPrefixes) {
  MakeRuns({1, 7});
  num_accounts_ = 100;
  SeekAdvice advice = Advise({.fraction = 1, .range_width = 0});
  EXPECT_EQ(advice.rule, "delimiter:%3A");
  EXPECT_EQ(advice.runs[1].num_prefixes, 7 * 100u);
  // 100 prefixes per file, which are few: two hashes each in the ribbon; and the rule of the file.
  EXPECT_NEAR(static_cast<double>(advice.runs[1].prefixes.num_bytes), 7 * (200 * 7.1 / 8 + 10),
              7 * 15);
  EXPECT_EQ(advice.prefixes.current_blocks, 2);
  EXPECT_NEAR(advice.prefixes.blocks, 2 * 0.0001, 0.00003);
  EXPECT_EQ(advice.prefixes.do_not_pay, "");
  EXPECT_TRUE(advice.has_prefixes());
  for (FileReport& file : files_) {
    file.filter.prefixes = {.num_filters = 1, .num_bytes = 0, .fpr = 0.01};
    file.filter.prefix_rules = {"lengths:2"};
  }
  advice = Advise({.fraction = 0.01});
  EXPECT_EQ(advice.rule, "lengths:2");
  EXPECT_EQ(advice.prefixes.do_not_pay, "the current filters save as much");
}

TEST_F(RangeAdviceTest, SkipsUnreadableFiles) {
  MakeRuns({3});
  const SeekAdvice advice = Advise({.fraction = 1}, /*is_damaged=*/true);
  EXPECT_EQ(advice.runs[0].sampled_keys, 3 * kKeysPerFile / 2);
  EXPECT_EQ(advice.ranges.do_not_pay, "");
}

}  // namespace
}  // namespace blocksieve::cli
