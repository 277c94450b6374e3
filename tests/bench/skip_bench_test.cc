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

TEST(DatasetTest, RealRowsHaveTheirKeyAndTheirValueAsColumns) {
  const Dataset dataset = MakeDataset(PathsAndPackages(1'000), "package", 1);
  EXPECT_EQ(dataset.rows.value(0), "/usr/dir000/file0000\tpkg0");
  ASSERT_EQ(dataset.columns.size(), 2U);
  EXPECT_EQ(dataset.rewritten.size(), 200U);
  const std::vector<Query> packages = DrawQueries(dataset, 0, 1'000, 1);
  EXPECT_EQ(packages.size(), 20U);
  size_t rows = 0;
  for (const Query& query : packages) {
    rows += query.rows.size();
    for (const uint32_t row : query.rows)
      EXPECT_TRUE(query.predicate.Matches(dataset.rows.value(row)));
  }
  EXPECT_EQ(rows, 1'000U);
  // "usr", ten directories, a thousand files
  EXPECT_EQ(DrawQueries(dataset, 1, 10'000, 1).size(), 1U + 10 + 1'000);
  EXPECT_EQ(DrawQueries(dataset, 1, 7, 1).size(), 7U);
}

// With a known number of blocks: each row is alone in a block.
TEST(RowBlocksTest, AreThoseOfTheNewestVersions) {
  const TempDir dir(::testing::TempDir());
  Dataset dataset;
  for (int i = 0; i < 1'000; ++i) {
    dataset.rows.Add(fmt::format("key{:04}", i), std::string(5'000, 'v'));
  }
  dataset.rows.Seal();
  for (int i = 0; i < 1'000; i += 10) {
    dataset.rewritten.Add(fmt::format("key{:04}", i), std::string(5'000, 'w'));
  }
  dataset.rewritten.Seal();
  SkipIndexOptions options;
  options.columns = {*Column::Parse("v=value")};
  ScanDatabase database(dataset, dir.path() / "db", options);
  database.Fill(RandomOrder(1'000, 1));
  const RowBlocks before = BlocksOf(database.db(), dataset.rows);
  EXPECT_EQ(before.num_blocks, 1'000U);
  const uint32_t rows[] = {0, 3, 5, 3};
  EXPECT_EQ(before.Count(rows), 3U);
  database.Rewrite();
  const RowBlocks after = BlocksOf(database.db(), dataset.rows);
  EXPECT_EQ(after.num_blocks, 1'100U);
  EXPECT_EQ(after.Count(rows), 3U);
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
  const ScanCost cost = database.Scan(query, true);
  EXPECT_GT(cost.data_blocks, 0U);
  EXPECT_EQ(database.Scan(query, true).data_blocks, 0U);  // cached

  const auto failure = [&] { return FailureOf([&] { database.Scan(query, true); }); };
  EXPECT_EQ(failure(), "no failure");
  query.rows.pop_back();
  EXPECT_THAT(failure(), HasSubstr("more rows than match"));
  query.rows.push_back(0);
  EXPECT_THAT(failure(), HasSubstr("does not match"));
  query.rows.clear();
  EXPECT_THAT(failure(), HasSubstr("more rows than match"));
}

// The whole job on few rows: the figures must fit together.
TEST(ExperimentTest, FiguresFitTogether) {
  const Effort effort = {.queries = 10,
                         .granule_rows = {kDefaultGranuleRows, 1'024},
                         .write_columns = 1,
                         .write_rounds = 1};
  TestJob test;
  RunExperiment(PathsAndPackages(20'000), "package", effort, test.job);
  const std::string columns[] = {"package = v", "words of the key HAS v"};
  for (const std::string& column : columns) {
    for (const char* const state : {", compacted", ", a fifth rewritten"}) {
      const std::string scans = "Scans for one value, on average", name = column + state;
      // A scan may read less than whole granules, but never less than the minimum.
      test.ExpectWithin(scans, name, "relative to the minimum", 1, 100);
      EXPECT_LT(test.Value(scans, name, "data blocks: skip index"),
                test.Value(scans, name, "data blocks: full scan"));
      test.ExpectWithin(scans, name, "matching rows", 1, 1e6);
      EXPECT_EQ(test.Cell(scans, name, "time: with the index")["turns"], 10);
    }
  }
  const std::string index =
      "Index of one column at an FPR of 1 %: bits per distinct value of a "
      "granule";
  const std::string name = columns[1] + ", granules of 64 rows";
  // Without keys and postings, the lower bound at 1 % would be 6.64.
  test.ExpectWithin(index, name, "bits per value: all",
                    test.Value(index, name, "bits per value: filters"), 30);
  EXPECT_EQ(test.Cell("Filling a database in random order, without and with an index", columns[0],
                      "time: ratio")["turns"],
            1);
}

}  // namespace
}  // namespace blocksieve::bench::skip
