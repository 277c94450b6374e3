// What bench/run ranges asks, counts and compares.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "bench/ranges/contestants.h"
#include "bench/ranges/database.h"
#include "bench/ranges/experiment.h"
#include "bench/ranges/filter_alone.h"
#include "bench/ranges/key_sets.h"
#include "bench/ranges/questions.h"
#include "bench/ranges/results.h"
#include "bench/ranges/runs.h"
#include "bench/support/files.h"
#include "tests/bench/bench_test.h"

namespace blocksieve::bench::ranges {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

// Those that are made of numbers: the machine need not have any packages.
const std::vector<std::string> kMadeSets = {kIntegers, kUsers, kTimeId, kTenantTime,
                                            kUuid4,    kUuid7, kUrls};

TEST(KeySetTest, KeysAreInOrderAndNoOtherIsOneOfThem) {
  for (const std::string& name : kMadeSets) {
    SCOPED_TRACE(name);
    const KeySet set = MakeKeySet(name, 5'000, 1);
    EXPECT_EQ(set.keys.size(), 5'000U);
    EXPECT_EQ(set.others.size(), 5'000U);
    EXPECT_TRUE(std::is_sorted(set.keys.begin(), set.keys.end()));
    std::set<std::string> all(set.keys.begin(), set.keys.end());
    all.insert(set.others.begin(), set.others.end());
    EXPECT_EQ(all.size(), 10'000U);
    EXPECT_EQ(MakeKeySet(name, 5'000, 1).keys, set.keys);
  }
  EXPECT_THAT(FailureOf([] { MakeKeySet("no such", 1, 1); }), HasSubstr("no such"));
}

// That a range as long as those of one key holds one key on average is what all figures rest on.
TEST(KeySetTest, RangesHoldAsManyKeysAsExpected) {
  for (const std::string& name : kMadeSets) {
    SCOPED_TRACE(name);
    const KeySet set = MakeKeySet(name, 20'000, 2);
    for (const double expected : {0.1, 1.0}) {
      double found = 0;
      for (size_t i = 0; i < 10'000; ++i) {
        const Range range{set.others[i], set.end(set.others[i], expected)};
        ASSERT_LT(range.begin, range.end);
        const auto first = std::lower_bound(set.keys.begin(), set.keys.end(), range.begin);
        const auto last = std::lower_bound(set.keys.begin(), set.keys.end(), range.end);
        found += static_cast<double>(last - first);
      }
      if (name == kUrls && expected < 0.5) continue;  // they end before the next key
      EXPECT_NEAR(found / 10'000, expected, 0.15 * expected);
    }
  }
}

TEST(KeySetTest, EmptyRangesAreEmptyAndBeginWhereTheyShould) {
  const KeySet set = MakeKeySet(kTenantTime, 10'000, 3);
  const std::vector<Question> questions = DrawQuestions(set, 300, 4);
  ASSERT_EQ(questions.size(), std::size(kLengths) + 2);
  for (const Question& question : questions) {
    SCOPED_TRACE(question.name);
    EXPECT_EQ(question.ranges.size(), 300U);
    std::set<std::string> begins;
    for (const Range& range : question.ranges) {
      EXPECT_LT(range.begin, range.end);
      EXPECT_FALSE(set.HasKeyIn(range));
      begins.insert(range.begin);
      const std::string_view before = std::string_view(range.begin).substr(0, 22);
      EXPECT_EQ(question.starts == Starts::kRightAfterKey,
                std::binary_search(set.keys.begin(), set.keys.end(), before));
    }
    EXPECT_EQ(question.starts == Starts::kAtHotOthers, begins.size() < 280);
  }
  for (const Range& range : DrawRangesOfOneKey(set, 300, 5)) {
    const std::string* const key = set.Next(range.begin);
    ASSERT_NE(key, nullptr);
    EXPECT_EQ(range.end, *key + '\0');
  }
}

TEST(PrefixTest, BlocksAreThoseOfRunsThatHaveThePrefixAndOfRangesWithoutOne) {
  const std::vector<std::vector<std::string>> runs = {{"aa1", "ab1"}, {"ab2", "ac1"}};
  EXPECT_EQ(BlocksWithPrefixes(runs, {{"ab3", "ab4"}}, 2), 2);
  EXPECT_EQ(BlocksWithPrefixes(runs, {{"ac3", "ac4"}}, 2), 1);
  EXPECT_EQ(BlocksWithPrefixes(runs, {{"ad3", "ad4"}}, 2), 0);
  EXPECT_EQ(BlocksWithPrefixes(runs, {{"ad3", "ae4"}}, 2), 2);
  EXPECT_EQ(BlocksWithPrefixes(runs, {{"ad3", "ad4"}, {"ab3", "ac4"}}, 3), 2);  // not asked
}

TEST(DatabaseTest, CountsOneBlockPerRunWithoutAFilterAndFewWithRanges) {
  const TempDir dir(::testing::TempDir());
  const KeySet set = MakeKeySet(kUsers, 20'000, 6);
  const auto runs = RandomRuns(set.keys, 7);
  const std::vector<Range> ranges = DrawEmptyRanges(set, 0.01, Starts::kAtOthers, 500, 8);
  for (const auto& [role, least, most] :
       {std::tuple{Role::kNoFilter, 7.9, 8.1}, std::tuple{Role::kRanges, 0.0, 0.3},
        std::tuple{Role::kRangesPartitioned, 0.0, 0.3}}) {
    SCOPED_TRACE(RoleName(role));
    Database database(role, nullptr, dir.path() / RoleName(role));
    database.Fill(runs);
    EXPECT_EQ(database.refusals(), 0U);
    EXPECT_EQ(database.FilterBytes() == 0, role == Role::kNoFilter);
    const BlockCount count;
    database.TimeScans(ranges, 0);
    const double blocks = static_cast<double>(count.data_blocks()) / 500;
    EXPECT_GE(blocks, least);
    EXPECT_LE(blocks, most);
  }
}

TEST(DatabaseTest, AWrongAnswerIsAFailure) {
  const TempDir dir(::testing::TempDir());
  const KeySet set = MakeKeySet(kIntegers, 5'000, 9);
  Database database(Role::kNoFilter, nullptr, dir.path() / "db");
  database.Fill(RandomRuns(set.keys, 10));
  const std::vector<Range> ranges = DrawRangesOfOneKey(set, 10, 11);
  EXPECT_EQ(database.Scan(ranges.front()), 1U);
  EXPECT_THAT(FailureOf([&] { database.TimeScans(ranges, 0); }),
              HasSubstr("range of 0 keys has 1"));
  EXPECT_THAT(FailureOf([&] { database.TimeGets(set.others, true); }), HasSubstr("NotFound"));
}

// Three keys each that only part where no code of eight bytes reaches.
TEST(FilterAloneTest, SaysWhyThereIsNoFilter) {
  KeySet set;
  set.name = "alike";
  std::mt19937_64 random(12);
  for (int i = 0; i < 1'000; ++i) {
    const std::string shared = fmt::format("{:016x}{:016x}", random(), random());
    for (const char* const end : {"a", "b", "c"}) set.keys.push_back(shared + end);
  }
  std::sort(set.keys.begin(), set.keys.end());
  const FilterResult result = MeasureFilter(set, {}, 1);
  EXPECT_THAT(result.absent_reason, HasSubstr("too much alike"));
  EXPECT_EQ(result.bits_per_key, 0);
  EXPECT_THAT(result.rates, ::testing::IsEmpty());
}

// The whole job on few keys: the figures must fit together.
TEST(RangesExperimentTest, FiguresFitTogether) {
  const TempDir dir(::testing::TempDir());
  const Effort effort = {
      .sets = {kIntegers},
      .filter_sets = {kIntegers},
      .keys = 10'000,
      .filter_keys = 20'000,
      .ranges = 400,
      .timed_ranges = 200,
      .cold_ranges = 40,
      .lookups = 100,
      .turns = 2,
      .lookup_turns = 3,
      .filter_turns = 2,
      .workloads = {.keys = 8'000, .operations = 200, .cold_operations = 40, .turns = 2}};
  Progress progress;
  const Results results = RunExperiment(effort, 1, dir.path(), progress);
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));

  ASSERT_EQ(results.sets.size(), 1U);
  const SetResult& set = results.sets.front();
  EXPECT_EQ(set.runs, kRuns);
  EXPECT_GT(set.prefix_bytes, 0U);
  ASSERT_EQ(set.contestants.size(), std::size(kAllRoles));
  for (const ContestantResult& each : set.contestants) {
    SCOPED_TRACE(RoleName(each.role));
    EXPECT_EQ(each.refusals, 0U);
    EXPECT_EQ(each.blocks_per_seek.size(), IsSought(each.role) ? set.questions.size() : 0);
    EXPECT_EQ(each.empty_nanoseconds.size(), IsSought(each.role) ? 2U : 0U);
    EXPECT_EQ(each.hit_nanoseconds.size(), IsLookedUp(each.role) ? 3U : 0U);
    EXPECT_THAT(each.miss_nanoseconds, Each(testing::Gt(0)));
    if (each.role == Role::kNoFilter) {
      EXPECT_NEAR(each.blocks_per_seek.front(), kRuns, 0.1);
      EXPECT_NEAR(each.cold_blocks_per_seek, kRuns, 0.1);
    }
    if (each.role == Role::kRanges) {
      EXPECT_LT(each.blocks_per_seek.front(), 0.4);
      EXPECT_LT(each.cold_blocks_per_seek, 0.4);
      EXPECT_GE(each.blocks_per_found, 1);
      EXPECT_LT(each.blocks_per_found, 1.5);
    }
  }
  for (size_t i = 0; i < set.questions.size(); ++i) {
    EXPECT_LE(set.questions[i].least_with_prefixes, set.contestants[0].blocks_per_seek[i] + 0.1);
  }

  ASSERT_EQ(results.filters.size(), 1U);
  const FilterResult& filter = results.filters.front();
  EXPECT_NEAR(filter.bits_per_key, filter.model_bits_per_key, 0.2);
  EXPECT_NEAR(filter.rates.front(), kComparedRangeFpr, 0.02);
  EXPECT_EQ(results.small_filters.size(), 6U);  // of three sizes, spread and neighbours

  ASSERT_EQ(results.workloads.size(), 2U);
  for (const WorkloadResult& workload : results.workloads) {
    SCOPED_TRACE(workload.workload);
    ASSERT_EQ(workload.contestants.size(), 2U);
    EXPECT_LT(workload.contestants[1].blocks_per_operation,
              workload.contestants[0].blocks_per_operation);
    EXPECT_EQ(workload.contestants[1].cold_nanoseconds.size(), 2U);
  }

  WriteJson(results, dir.path() / "new");
  const nlohmann::json json =
      nlohmann::json::parse(std::ifstream(dir.path() / "new" / "ranges.json"));
  EXPECT_EQ(json["format"], 1);
  EXPECT_EQ(json["sets"][0]["contestants"][4]["role"], "ranges");
  EXPECT_EQ(json["sets"][0]["questions"][0]["starts"], "uncorrelated");
}

}  // namespace
}  // namespace blocksieve::bench::ranges
