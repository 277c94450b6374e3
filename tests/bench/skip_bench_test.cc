// The parts of bench/run skip: datasets, counts and results.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "bench/skip/dataset.h"
#include "bench/skip/experiment.h"
#include "bench/skip/scan_database.h"
#include "bench/support/files.h"
#include "bench/support/measure.h"
#include "tests/bench/bench_test.h"

namespace blocksieve::bench::skip {
namespace {

using ::testing::HasSubstr;

TEST(DatasetTest, QueriesHaveTheRowsThatMatch) {
  const Dataset dataset = MakeDataset(PathsAndPackages(1'000), "package", 1);
  EXPECT_EQ(dataset.rows.value(0), "/usr/dir000/file0000\tm0\tpkg0");
  EXPECT_EQ(dataset.rewritten.size(), 200U);
  const std::vector<Query> packages = DrawQueries(dataset, 0, 1'000, 1);
  EXPECT_EQ(packages.size(), 20U);
  for (const Query& query : packages) {
    EXPECT_EQ(query.rows.size(), 50U);
    EXPECT_TRUE(query.predicate.Matches(dataset.rows.value(query.rows.back())));
  }
  // "usr", ten directories, a thousand files
  EXPECT_EQ(DrawQueries(dataset, 2, 10'000, 1).size(), 1U + 10 + 1'000);
}

// With a known number of blocks: each row is alone in a block.
TEST(RowBlocksTest, AreThoseOfTheNewestVersions) {
  const TempDir dir(::testing::TempDir());
  Dataset dataset;
  for (int i = 0; i < 1'000; ++i) {
    const std::string key = fmt::format("key{:04}", i), value(5'000, 'v');
    dataset.rows.Add(key, value);
    if (i % 10 == 0) dataset.rewritten.Add(key, value);
  }
  dataset.rows.Seal();
  dataset.rewritten.Seal();
  ScanDatabase database(dataset, dir.path() / "db", {});
  database.Fill(RandomOrder(1'000, 1));
  const uint32_t rows[] = {0, 3, 5, 3};
  for (const uint64_t num_blocks : {1'000, 1'100}) {
    const RowBlocks blocks = BlocksOf(database.db(), dataset.rows);
    EXPECT_EQ(blocks.num_blocks, num_blocks);
    EXPECT_EQ(blocks.Count(rows), 3U);
    if (num_blocks == 1'000) database.Rewrite();
  }
}

// The run depends on this for "every result was checked".
TEST(ScanDatabaseTest, WrongAnswersAreFailures) {
  const TempDir dir(::testing::TempDir());
  const Dataset dataset = MakeDataset(PathsAndPackages(1'000), "package", 1);
  SkipIndexOptions options;
  options.columns = dataset.Columns();
  ScanDatabase database(dataset, dir.path() / "db", options);
  database.Fill(KeyOrder(1'000));
  Query query = DrawQueries(dataset, 0, 1, 1).front();
  database.ForgetReads();
  EXPECT_GT(database.Scan(query, true).data_blocks, 0U);
  EXPECT_EQ(database.Scan(query, true).data_blocks, 0U);  // cached

  const auto failure = [&] { return FailureOf([&] { database.Scan(query, true); }); };
  query.rows.pop_back();
  EXPECT_THAT(failure(), HasSubstr("more rows were returned than match"));
  query.rows.push_back(0);
  EXPECT_THAT(failure(), HasSubstr("does not match"));
  query.rows.clear();
  EXPECT_THAT(failure(), HasSubstr("more rows were returned than match"));
}

// The whole job on few rows: the figures must fit together.
TEST(SkipBenchTest, FiguresFitTogether) {
  const Effort effort = {.queries = 10,
                         .granule_rows = {kDefaultGranuleRows, 1'024},
                         .write_columns = 1,
                         .write_rounds = 1};
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
  // Without keys and postings, the lower bound at 1 % would be 6.64.
  test.ExpectWithin("Index of one column at an FPR of 1 %: bits per distinct value of a granule",
                    "words of the key HAS v, granules of 64 rows", "bits per value: all", 6, 30);
  EXPECT_EQ(test.Cell("Filling a database in random order, without and with an index",
                      "package = v", "time: ratio")["turns"],
            1);
}

}  // namespace
}  // namespace blocksieve::bench::skip
