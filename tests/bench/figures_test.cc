// SPDX-License-Identifier: Apache-2.0
// Whole jobs on small inputs: the figures must fit together.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "bench/ranges/experiment.h"
#include "bench/read_amp/contestants.h"
#include "bench/skip/experiment.h"

namespace blocksieve::bench {
namespace {

// Rows like dpkg's lists: a hundred files in each directory, fifty in a row from one package.
Input PathsAndPackages(size_t num_rows) {
  Input input;
  for (size_t i = 0; i < num_rows; ++i) {
    input.rows.Add(fmt::format("/usr/dir{:03}/file{:04}", i / 100, i),
                   fmt::format("pkg{}", i / 50 * 7919 % 1'009));
  }
  input.rows.Seal();
  return input;
}

// The arguments of a job, with a directory of its own, and its results.
struct TestJob {
  const TempDir dir{::testing::TempDir()};
  const JobOptions options{};
  Progress progress;
  Results results{"job"};
  Job job{options, dir.path(), "somehow", progress, results};

  // The figure in a column of a line of a table. Fails the test unless there is one.
  Json Cell(const std::string& caption, const std::string& name, const std::string& column) const {
    const Json json = Json::parse(results.Text(0));
    for (const Json& table : json["tables"]) {
      for (const Json& line : table["lines"]) {
        for (const Json& cell : line["cells"]) {
          if (table["caption"] == caption && line["name"] == name && cell["column"] == column) {
            return cell;
          }
        }
      }
    }
    ADD_FAILURE() << caption << " has no " << column << " of " << name;
    return {{"value", std::numeric_limits<double>::quiet_NaN()}, {"turns", 0}};
  }

  double Value(const std::string& caption, const std::string& name,
               const std::string& column) const {
    return Cell(caption, name, column)["value"].get<double>();
  }

  // Checks that the value is from `least` to `most`.
  void ExpectWithin(const std::string& caption, const std::string& name, const std::string& column,
                    double least, double most) const {
    const double value = Value(caption, name, column);
    EXPECT_TRUE(value >= least && value <= most)
        << caption << ", " << name << ", " << column << ": " << value;
  }
};

}  // namespace

namespace read_amp {
namespace {

TEST(ReadAmpTest, FiguresFitTogether) {
  const Input input = MakeSynthetic(20'000, 1, UINT64_MAX);
  const Effort effort = {.rounds = 2,
                         .lookups = 5'000,
                         .max_cold_seconds = 0.05,
                         .timed_warm_passes = 1,
                         .no_new_round_after = 0};
  TestJob test;
  RunExperiment(input, 0.05, effort, test.job);
  const std::string sizes = "Sizes and data blocks per lookup";
  for (const LookupContestant& contestant : MakeContestants(0.05)) {
    const std::string& name = contestant.name;
    EXPECT_EQ(test.Cell("Lookups per second", name, "absent keys: cold")["turns"], 2);
    if (contestant.role == "no_filter") {
      EXPECT_EQ(test.Value(sizes, name, "filter size"), 0);
      // Four files of level 0 and one of every level below.
      test.ExpectWithin(sizes, name, "absent keys: cached", 5.5, 6.1);
      continue;
    }
    const double target = contestant.role == "stock_default"      ? 0.0097
                          : contestant.role == "ribbon_in_memory" ? 0.0016
                          : contestant.role == "same_memory"      ? 0.00106
                                                                  : 0.05;
    if (contestant.role == "by_level") {
      test.ExpectWithin(sizes, name, "filter bits per key", 8, 11);
      test.ExpectWithin(sizes, name, "absent keys: cached", 0, 0.006);
      continue;
    }
    // Filters of the few hundred keys of a level-0 file round up to whole lines: a lower FPR. Time
    // decides how many lookups repeat keys of the round before: at least 30,000 probes differ.
    test.ExpectWithin(sizes, name, "measured FPR", target / 2,
                      target + 6 * std::sqrt(target / 30'000));
    test.ExpectWithin(sizes, name, "absent keys: cached", 0, 6 * target * 1.3);
  }
  const std::string savings = "Savings", ours = "blocksieve ribbon, 5 %";
  test.ExpectWithin(savings, ours, "size, relative to stock Bloom", 0.5, 0.9);
  test.ExpectWithin(savings, ours, "reads saved", 0.9, 1);
}

}  // namespace
}  // namespace read_amp

namespace ranges {
namespace {

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
    test.ExpectWithin(blocks, seeks, prefixes, 0, test.Value(blocks, seeks, "no filter") / 4);
  }
  test.ExpectWithin("One filter of all keys", "8-byte integers, ranges, ribbon",
                    "bits per key above the point filter", 8, 9);
  EXPECT_EQ(test.Cell("YCSB E", ranges, "cold: times as fast")["turns"], 2);
}

}  // namespace
}  // namespace ranges

namespace skip {
namespace {

TEST(SkipBenchTest, FiguresFitTogether) {
  const Effort effort = {.queries = 10, .write_columns = 1, .write_rounds = 1, .num_series = 30};
  TestJob test;
  RunExperiment(PathsAndPackages(20'000), "package", effort, test.job);
  const std::string scans = "Scans for one value, on average";
  for (const std::string column : {"package = v", "words of the key HAS v"}) {
    for (const char* const state : {", compacted", ", a fifth rewritten"}) {
      const std::string name = column + state;
      // A scan may read less than whole granules, but never less than the minimum.
      test.ExpectWithin(scans, name, "relative to the minimum", 1, 100);
      test.ExpectWithin(scans, name, "data blocks: skip index", 1,
                        test.Value(scans, name, "data blocks: full scan") - 1);
      EXPECT_EQ(test.Cell(scans, name, "time: with the index")["turns"], 10);
    }
  }
  const std::string parts = "Windows of a time in the key, in eight runs, on average";
  const std::string window = "series, time, 1.0 %";
  test.ExpectWithin(parts, window, "data blocks: skip index", test.Value(parts, window, "oracle"),
                    test.Value(parts, window, "data blocks: full iterator"));
  EXPECT_EQ(test.Cell("Filling a database in random order, without and with an index",
                      "package = v", "time: ratio")["turns"],
            1);
}

}  // namespace
}  // namespace skip
}  // namespace blocksieve::bench
