#include "integration/cli/advise/plan_search.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "integration/cli/advise/advice.h"
#include "integration/cli/database/filter_options.h"

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

class PlanSearchTest : public ::testing::Test {
 protected:
  double ReadsOf(const Plans& plans) { return Predict(forest_.trees, plans, 1).wasted_reads; }
  static uint64_t BytesOf(const Plans& plans) { return SumOf(plans, &FilterPlan::filter_bytes); }

  Forest forest_ = ForestOf(Files());
};

TEST_F(PlanSearchTest, PlansUseTheMemoryAndNeverExceedIt) {
  for (const uint64_t bytes : {100'000, 500'000, 1'400'000, 2'000'000}) {
    for (const auto plan_for : {PlanForMemory, PlanForOneRate}) {
      const Result<Plans> plan = plan_for(forest_, bytes);
      if (!plan.ok()) {
        // One bit per key is the least that the same rate for all takes.
        EXPECT_LT(8 * bytes, kKeys) << plan.status().message();
        continue;
      }
      EXPECT_LE(BytesOf(*plan), bytes);
      EXPECT_GT(BytesOf(*plan), bytes * 97 / 100) << GoalText(PolicyFor(plan->front().goal));
    }
  }
}

TEST_F(PlanSearchTest, PlansMeetTheirWastedReads) {
  for (const double reads : {0.5, 0.03, 0.00123}) {
    const Result<Plans> plan = PlanForWastedReads(forest_, reads);
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    EXPECT_TRUE(plan->front().goal.wasted_reads);
    EXPECT_LE(*plan->front().goal.wasted_reads, reads);
    EXPECT_GT(*plan->front().goal.wasted_reads, 0.99 * reads);
    EXPECT_LE(ReadsOf(*plan), reads);
    EXPECT_GT(ReadsOf(*plan), 0.9 * reads);
  }
}

TEST_F(PlanSearchTest, SameReadsAreReachedWithLessMemoryWhereFewLookupsCheckTheSmallRuns) {
  constexpr double kReads = 0.02;
  uint64_t most_bytes = BytesOf(*PlanForWastedReads(forest_, kReads));
  for (const bool are_rare : {false, true}) {
    if (are_rare) {
      // Level 2 spans all letters, the runs above only the first one.
      const std::string letters = "abcdefghijklmnopqrstu";
      std::vector<TreeFile> files = forest_.trees[0].files();
      for (size_t i = 0; i < files.size(); ++i) {
        const size_t first = files[i].level == 2 ? i - 4 : 0;
        files[i].smallest = std::string_view(letters).substr(first, 1);
        files[i].largest = std::string_view(letters).substr(first + 1, 1);
      }
      files.erase(files.begin() + 3);  // level 1 is one file
      forest_.trees[0] = Tree(files);
      forest_.trees[0].SetKeyRanges();
    }
    const Result<Plans> same = PlanForSameReads(forest_, kReads);
    ASSERT_TRUE(same.ok()) << same.status().message();
    EXPECT_LE(ReadsOf(*same), kReads);
    EXPECT_GT(ReadsOf(*same), 0.97 * kReads);
    EXPECT_LE(BytesOf(*same), most_bytes);
    most_bytes = most_bytes * 99 / 100;
  }
}

TEST_F(PlanSearchTest, RefusesTooLittleMemory) {
  for (const auto plan_for : {PlanForMemory, PlanForOneRate}) {
    const Result<Plans> plan = plan_for(forest_, 10);
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

// Twice the tree takes twice the memory of the same filters.
TEST_F(PlanSearchTest, OneLimitIsForAllColumnFamilies) {
  Forest two = forest_;
  two.trees.push_back(forest_.trees[0]);
  for (const uint64_t bytes : {500'000, 2'000'000}) {
    const Result<Plans> one = PlanForMemory(forest_, bytes);
    const Result<Plans> both = PlanForMemory(two, 2 * bytes);
    ASSERT_TRUE(one.ok() && both.ok());
    EXPECT_EQ(both->front().goal.bits_per_key, one->front().goal.bits_per_key);
    EXPECT_EQ(BytesOf(*both), 2 * BytesOf(*one));
    EXPECT_EQ(both->size(), 2u);
    EXPECT_DOUBLE_EQ(Predict(two.trees, *both, 1).wasted_reads, ReadsOf(*one));
  }
}

}  // namespace
}  // namespace blocksieve::cli
