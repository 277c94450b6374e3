// The parts of bench/run ranges: queries, counts and comparisons.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "bench/ranges/experiment.h"
#include "bench/ranges/key_sets.h"
#include "bench/ranges/range_database.h"
#include "bench/ranges/range_queries.h"
#include "bench/support/files.h"
#include "tests/bench/bench_test.h"

namespace blocksieve::bench::ranges {
namespace {

using ::testing::HasSubstr;

// Sets made of numbers, which do not depend on the machine's packages.
const std::vector<std::string> kMadeSets = {kIntegers, kUsers, kTenantTime};

TEST(KeySetTest, KeysAreInOrderAndOthersAreAbsent) {
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

// All figures depend on this: a range of the length "1 key" holds one key on average.
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
      EXPECT_NEAR(found / 10'000, expected, 0.15 * expected);
    }
  }
}

TEST(RangeQueriesTest, EmptyRangesHoldNoKeyAndBeginAsRequested) {
  const KeySet set = MakeKeySet(kTenantTime, 10'000, 3);
  const std::vector<RangeQueries> all = DrawQueries(set, 300, 4);
  ASSERT_EQ(all.size(), std::size(kLengths) + 1);
  for (const RangeQueries& queries : all) {
    SCOPED_TRACE(queries.name);
    EXPECT_EQ(queries.ranges.size(), 300U);
    for (const Range& range : queries.ranges) {
      EXPECT_LT(range.begin, range.end);
      EXPECT_FALSE(set.HasKeyIn(range));
      const std::string_view before = std::string_view(range.begin).substr(0, 22);
      EXPECT_EQ(queries.name == "right after a key",
                std::binary_search(set.keys.begin(), set.keys.end(), before));
    }
  }
  for (const Range& range : DrawRangesOfOneKey(set, 300, 5)) {
    const std::string* const key = set.Next(range.begin);
    ASSERT_NE(key, nullptr);
    EXPECT_EQ(range.end, *key + '\0');
  }
}

TEST(PrefixTest, BlocksAreThoseOfRunsThatHaveThePrefixAndOfRangesWithoutOne) {
  const std::vector<SortedKeys> runs = {{"aa1", "ab1"}, {"ab2", "ac1"}};
  EXPECT_EQ(BlocksWithPrefixes(runs, std::vector<Range>{{"ab3", "ab4"}}, 2), 2);
  EXPECT_EQ(BlocksWithPrefixes(runs, std::vector<Range>{{"ac3", "ac4"}}, 2), 1);
  EXPECT_EQ(BlocksWithPrefixes(runs, std::vector<Range>{{"ad3", "ad4"}}, 2), 0);
  EXPECT_EQ(BlocksWithPrefixes(runs, std::vector<Range>{{"ad3", "ae4"}}, 2), 2);
  EXPECT_EQ(BlocksWithPrefixes(runs, std::vector<Range>{{"ad3", "ad4"}, {"ab3", "ac4"}}, 3),
            2);  // no filter is probed
}

TEST(RangeDatabaseTest, AWrongAnswerIsAFailure) {
  const TempDir dir(::testing::TempDir());
  const KeySet set = MakeKeySet(kIntegers, 5'000, 9);
  RangeDatabase database(Role::kNoFilter, Prefixes{0}, dir.path() / "db");
  database.Fill(RandomRuns(set.keys, 10));
  const std::vector<Range> ranges = DrawRangesOfOneKey(set, 10, 11);
  EXPECT_EQ(database.Scan(ranges.front()), 1U);
  EXPECT_THAT(FailureOf([&] { database.TimeScans(ranges, 0); }),
              HasSubstr("range of 0 keys has 1"));
  EXPECT_THAT(FailureOf([&] { database.TimeGets(set.others, true); }), HasSubstr("NotFound"));
}

// Groups of three keys that differ only after the eight bytes of a code.
TEST(FilterAloneTest, SaysWhyThereIsNoFilter) {
  KeySet set;
  set.name = "alike";
  std::mt19937_64 random(12);
  for (int i = 0; i < 1'000; ++i) {
    const std::string shared = fmt::format("{:016x}{:016x}", random(), random());
    for (const char* const end : {"a", "b", "c"}) set.keys.push_back(shared + end);
  }
  std::sort(set.keys.begin(), set.keys.end());
  TestJob test;
  MeasureFilter(set, {}, 1, test.results);
  const ResultRows rows(test);
  const Json ratio = rows.Row("build per key: ratio", {{"name", "refused"}});
  EXPECT_THAT(ratio["parameters"]["why"], HasSubstr("too similar"));
  EXPECT_EQ(rows.size(), 3U);  // building alone
}

// The whole job on few keys: the figures must fit together.
TEST(RangesExperimentTest, FiguresFitTogether) {
  const Effort effort = {.sets = {kIntegers},
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
                         .structured_keys = 10'000,
                         .prefix_seeks = 50,
                         .operations = 200,
                         .cold_operations = 40,
                         .workload_turns = 2};
  TestJob test;
  RunExperiment(effort, test.job);
  const ResultRows rows(test);
  const Json none = {{"name", "no filter"}}, ranges = {{"name", "blocksieve, ranges"}};
  rows.ExpectWithin("data blocks, all lengths", none, kRuns - 0.1, kRuns + 0.1);
  rows.ExpectWithin("data blocks, all lengths", ranges, 0, 0.4);
  rows.ExpectWithin("data blocks, all lengths", {{"name", "blocksieve, ranges, partitioned"}}, 0,
                    0.4);
  rows.ExpectWithin("data blocks, one key", ranges, 1, 1.5);
  rows.ExpectWithin("times fewer data blocks", ranges, 10, 1e9);
  rows.ExpectWithin("data blocks", {{"name", "stock prefix Bloom"}, {"ranges", "1 key"}}, 0,
                    kRuns + 0.1);
  EXPECT_EQ(rows.Row("empty seek", ranges)["turns"], 2);
  EXPECT_EQ(rows.Row("empty seek, cold, relative to no filter", ranges)["turns"], 2);
  EXPECT_EQ(rows.Row("point miss, relative to point filters",
                     {{"name", "blocksieve, ranges, partitioned"}})["turns"],
            3);

  const Json alone = {{"name", "filter alone"}};
  const double model = rows.Value("bits per key, by the model", alone);
  rows.ExpectWithin("bits per key", alone, model - 0.2, model + 0.2);
  rows.ExpectWithin("may match: 0.001 keys", {}, 0, kComparedRangeFpr + 0.02);
  for (const char* const seeks : {"absent tenant", "absent user", "present hash"}) {
    const auto blocks = [&](const char* name) {
      return rows.Value("blocks per seek", {{"seeks", seeks}, {"name", name}});
    };
    EXPECT_LT(blocks("blocksieve, prefixes"), blocks("no filter") / 4) << seeks;
    EXPECT_LE(blocks("exact set of prefixes"), blocks("blocksieve, prefixes")) << seeks;
  }
  for (const char* const workload : {"YCSB E", "time series"}) {
    const auto blocks = [&](const char* name) {
      return rows.Value("data blocks per operation", {{"workload", workload}, {"name", name}});
    };
    EXPECT_LT(blocks("blocksieve, ranges"), blocks("blocksieve, points"));
    EXPECT_EQ(rows.Row("times as fast", {{"workload", workload}, {"reads", "cold"}})["turns"], 2);
  }
}

}  // namespace
}  // namespace blocksieve::bench::ranges
