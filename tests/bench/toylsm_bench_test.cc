// The parts of bench/run toylsm: counts and results.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "bench/support/dataset.h"
#include "bench/support/files.h"
#include "bench/toylsm/tree.h"
#include "tests/bench/bench_test.h"

namespace blocksieve::bench::toy {
namespace {

using ::testing::HasSubstr;

TEST(RowBlocksTest, FindTheNewestVersionOfEveryRow) {
  const TempDir dir(::testing::TempDir());
  const Dataset dataset = MakeSyntheticDataset(2'000, 1);
  const auto db = OpenDb(TreeOptions(dataset.rows), dir.path() / "db");
  WriteRows(*db, dataset.rows, 1);
  Check(db->Compact(), "compact");
  const RowBlocks before(*db, dataset.rows);
  std::vector<uint32_t> all(dataset.rows.size());
  for (uint32_t row = 0; row < all.size(); ++row) all[row] = row;
  EXPECT_EQ(before.Count(all), before.num_blocks());
  const uint32_t neighbours[] = {0, 1};
  EXPECT_EQ(before.Count(neighbours), 1U);
  // Row 1 moves away from row 0.
  Check(db->Put(dataset.rows.key(1), dataset.rows.value(1)), "write to");
  Check(db->Flush(), "flush");
  EXPECT_EQ(RowBlocks(*db, dataset.rows).Count(neighbours), 2U);

  Check(db->Delete(dataset.rows.key(7)), "write to");
  Check(db->Flush(), "flush");
  Check(db->Compact(), "compact");
  EXPECT_THAT(FailureOf([&] { RowBlocks(*db, dataset.rows); }), HasSubstr("at row 7"));
}

// The whole job on few rows: the figures must fit together.
TEST(ToyExperimentTest, FiguresFitTogether) {
  const Dataset dataset = MakeSyntheticDataset(20'000, 1);
  const Effort effort = {.lookups = 5'000, .queries = 5};
  TestJob test;
  MeasureLookups(dataset, effort, test.job);
  MeasureScans(dataset, effort, test.job);
  const ResultRows rows(test);
  const Json compacted = {{"name", "skip index"}, {"column", "run = v"}, {"state", "compacted"}};
  EXPECT_EQ(rows.Value("runs", compacted), 1);
  for (const char* const filters : {"no filter", "blocked Bloom, per file", "ribbon, per file",
                                    "blocked Bloom, per granule", "ribbon, per granule"}) {
    const Json of = {{"name", filters}};
    const Json absent = {{"name", filters}, {"keys", "absent keys"}};
    const Json present = {{"name", filters}, {"keys", "present keys"}};
    rows.ExpectWithin("data blocks: all", present, 1, 10);
    rows.ExpectWithin("block indexes", of, 1, 1e9);
    if (std::string(filters) == "no filter") {
      EXPECT_EQ(rows.Value("size", of), 0);
      EXPECT_EQ(rows.Value("filter blocks: all", absent), 0);
      rows.ExpectWithin("data blocks: all", absent, 2, 10);
      continue;
    }
    rows.ExpectWithin("data blocks: all", absent, 0, 0.1);
    rows.ExpectWithin("filter blocks: all", absent, 1, 10);
    rows.ExpectWithin("wasted data blocks, relative to FPR × runs", of, 0.5, 1.3);
    rows.ExpectWithin("in the cache: share", of, 0, 1);
  }
  for (const char* const column : {"run = v", "scattered = v"}) {
    for (const char* const state : {"as written", "compacted", "a fifth rewritten"}) {
      const auto read = [&](const char* name) {
        const Json where = {{"name", name}, {"column", column}, {"state", state}};
        return rows.Value("data blocks read", where);
      };
      EXPECT_GE(read("skip index"), read("minimum"));
      EXPECT_LT(read("skip index"), read("full scan"));
    }
  }
}

}  // namespace
}  // namespace blocksieve::bench::toy
