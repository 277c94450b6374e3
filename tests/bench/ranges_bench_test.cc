// The parts of bench/run ranges: keys, seeks, counts and comparisons.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bench/ranges/database.h"
#include "bench/ranges/datasets.h"
#include "bench/ranges/experiment.h"
#include "bench/support/files.h"
#include "tests/bench/bench_test.h"

namespace blocksieve::bench::ranges {
namespace {

using ::testing::HasSubstr;

size_t NumKeysIn(const SortedKeys& keys, const Range& range) {
  const auto first = std::lower_bound(keys.begin(), keys.end(), range.begin);
  return static_cast<size_t>(std::lower_bound(first, keys.end(), range.end) - first);
}

TEST(DatasetTest, SeeksHoldAsManyKeysAsTheySay) {
  std::vector<Dataset> sets = StructuredKeys(20'000, 100, 1);
  sets.push_back(Integers(20'000, 100, 1));
  for (const Dataset& set : sets) {
    const SortedKeys keys = set.AllKeys();
    EXPECT_EQ(std::adjacent_find(keys.begin(), keys.end()), keys.end()) << set.name;
    for (const SortedKeys& run : set.runs) EXPECT_TRUE(std::is_sorted(run.begin(), run.end()));
    for (const Seeks& seeks : set.seeks) {
      SCOPED_TRACE(set.name + seeks.name);
      for (const Range& range : seeks.ranges) {
        ASSERT_LT(range.begin, range.end);
        ASSERT_EQ(NumKeysIn(keys, range), seeks.keys_in_each);
      }
    }
  }
}

// All figures of integers depend on this: a range of the length "1 key" holds one key on average.
TEST(DatasetTest, IntegerRangesHoldAsManyKeysAsExpected) {
  const SortedKeys keys = Integers(20'000, 0, 2).AllKeys(),
                   begins = Integers(10'000, 0, 3).AllKeys();
  for (const double expected : {0.1, 1.0}) {
    double found = 0;
    for (const std::string& begin : begins) {
      found += static_cast<double>(NumKeysIn(keys, IntegerRange(begin, expected, keys.size())));
    }
    EXPECT_NEAR(found / 10'000, expected, 0.15 * expected);
  }
}

TEST(PrefixRuleTest, IdealBlocksAreThoseOfRunsThatHaveThePrefixAndOfRangesWithoutOne) {
  const Dataset set = {"made up", "", {{"aa1", "ab1"}, {"ab2", "ac1"}}, {}};
  const auto blocks = [&](size_t length, std::vector<Range> ranges) {
    return PrefixRule{"", length}.IdealBlocks(set, {"", std::move(ranges)});
  };
  EXPECT_EQ(blocks(2, {{"ab3", "ab4"}}), 2);
  EXPECT_EQ(blocks(2, {{"ac3", "ac4"}}), 1);
  EXPECT_EQ(blocks(2, {{"ad3", "ad4"}}), 0);
  EXPECT_EQ(blocks(2, {{"ad3", "ae4"}}), 2);
  EXPECT_EQ(blocks(3, {{"ad3", "ad4"}, {"ab3", "ac4"}}), 2);  // no filter is probed
}

TEST(RangeDatabaseTest, AWrongAnswerIsAFailure) {
  const TempDir dir(::testing::TempDir());
  const Dataset set = Integers(5'000, 10, 9);
  RangeDatabase database(Role::kNoFilter, {}, dir.path() / "db");
  database.Fill(set);
  Seeks found = set.seeks.back();
  EXPECT_EQ(database.Scan(found.ranges.front()), 1U);
  found.keys_in_each = 0;
  EXPECT_THAT(FailureOf([&] { database.TimeSeeks(found); }), HasSubstr("range of 0 keys has 1"));
}

// The whole job on few keys: the figures must fit together.
TEST(RangesExperimentTest, FiguresFitTogether) {
  const Effort effort = {.keys = 10'000,
                         .structured_keys = 10'000,
                         .seeks = 100,
                         .lookups = 100,
                         .turns = 2,
                         .lookup_turns = 3,
                         .filter_turns = 1,
                         .operations = 200,
                         .cold_operations = 40};
  TestJob test;
  RunExperiment(effort, test.job);
  const std::string blocks = "Data blocks per seek", all = "8-byte integers, all lengths";
  const std::string ranges = "blocksieve, ranges", prefixes = "blocksieve, prefixes";
  test.ExpectWithin(blocks, all, "no filter", kRuns - 0.1, kRuns + 0.1);
  test.ExpectWithin(blocks, all, ranges, 0, 0.4);
  test.ExpectWithin(blocks, "8-byte integers, only key is the last", ranges, 1, 1.5);
  EXPECT_EQ(test.Cell("Time per seek, cached", all, ranges)["turns"], 2);
  for (const char* const seeks : {"tenant | time, absent tenant", "account:user:event, absent user",
                                  "members of hashes, present hash"}) {
    test.ExpectWithin(blocks, seeks, prefixes, test.Value(blocks, seeks, "exact set of prefixes"),
                      test.Value(blocks, seeks, "no filter") / 4);
  }
  test.ExpectWithin("One filter of all keys", "8-byte integers, ranges, ribbon",
                    "bits per key above the point filter", 8, 9);
  test.ExpectWithin("Empty ranges that a range filter lets through", "8-byte integers",
                    "0.001 keys", 0, 0.05);
  EXPECT_EQ(test.Cell("YCSB E", ranges, "cold: times as fast")["turns"], 2);
}

}  // namespace
}  // namespace blocksieve::bench::ranges
