// The parts of bench/run toylsm: what it counts and what it writes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "bench/support/dataset.h"
#include "bench/support/files.h"
#include "bench/toylsm/experiment.h"
#include "bench/toylsm/tree.h"
#include "tests/bench/bench_test.h"

namespace blocksieve::bench::toy {
namespace {

using ::testing::HasSubstr;

TEST(TreeTest, HasSeveralLevelsAndIsTheSameForTheSameSeed) {
  const TempDir dir(::testing::TempDir());
  const Dataset dataset = MakeSyntheticDataset(20'000, 1);
  const auto shape = [&](const char* name) {
    const auto db = OpenDb(TreeOptions(dataset.rows), dir.path() / name);
    WriteRows(*db, dataset.rows, 1);
    std::vector<uint64_t> bytes;
    for (const auto& run : db->version()->runs) bytes.push_back(run.num_bytes());
    return bytes;
  };
  EXPECT_GE(shape("a").size(), 3U);
  EXPECT_EQ(shape("b"), shape("c"));
}

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
  const TempDir dir(::testing::TempDir());
  const Dataset dataset = MakeSyntheticDataset(20'000, 1);
  Progress progress;
  const Results results =
      RunExperiment(dataset, {.lookups = 5'000, .queries = 5}, 1, dir.path(), progress);
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));

  ASSERT_EQ(results.lookups.size(), 5U);
  for (const LookupResult& each : results.lookups) {
    SCOPED_TRACE(each.filters);
    EXPECT_EQ(each.runs, results.lookups.front().runs);
    EXPECT_EQ(each.absent.lookups, 5'000U);
    EXPECT_EQ(each.absent.true_positives, 0U);
    EXPECT_GT(each.block_index_bytes, 0U);
    EXPECT_GE(each.present.data_blocks(), 5'000U);
    if (each.target_fpr == 0) {
      EXPECT_EQ(each.filter_bytes, 0U);
      EXPECT_EQ(each.absent.filter_blocks(), 0U);
      EXPECT_GT(each.absent.data_blocks(), 5'000U * (each.runs - 1));
    } else {
      EXPECT_EQ(each.absent.data_blocks(), each.absent.false_positives);
      EXPECT_EQ(each.absent.filter_blocks(),
                each.absent.false_positives + each.absent.filter_negatives);
      EXPECT_EQ(each.present.true_positives, 5'000U);
      EXPECT_GT(each.against_target_fpr(), 0.5);
      EXPECT_LT(each.against_target_fpr(), 1.3);
      EXPECT_LE(each.resident_filter_bytes, static_cast<double>(each.filter_memory_bytes));
    }
  }
  ASSERT_EQ(results.scans.size(), 3U * 2);
  for (const ScanResult& scan : results.scans) {
    SCOPED_TRACE(scan.column + scan.state);
    EXPECT_EQ(scan.queries, 5U);
    EXPECT_GE(scan.data_blocks_read, scan.oracle_blocks);
    EXPECT_LT(scan.data_blocks_read, scan.queries * scan.full_scan_blocks);
    EXPECT_GT(scan.skip_index_bytes, 0U);
  }
  EXPECT_EQ(results.scans[2].runs, 1U);  // compacted

  WriteJson(results, dir.path() / "new");
  const nlohmann::json json =
      nlohmann::json::parse(std::ifstream(dir.path() / "new" / "toylsm.json"));
  EXPECT_EQ(json["lookups"].size(), 5U);
  EXPECT_TRUE(json["lookups"][0]["target_fpr"].is_null());
  EXPECT_EQ(json["scans"].size(), 6U);
}

}  // namespace
}  // namespace blocksieve::bench::toy
