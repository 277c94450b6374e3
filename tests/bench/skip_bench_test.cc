// The parts of bench/run skip: what it fills databases with, what it counts and what it writes.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "bench/skip/analysis.h"
#include "bench/skip/costs.h"
#include "bench/skip/database.h"
#include "bench/skip/experiment.h"
#include "bench/skip/forms.h"
#include "bench/skip/row_places.h"
#include "bench/skip/separate_filters.h"
#include "bench/support/dataset.h"
#include "bench/support/files.h"
#include "bench/support/measure.h"
#include "tests/bench/bench_test.h"

namespace blocksieve::bench::skip {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::SizeIs;

auto EachTurnTook() { return AllOf(SizeIs(kTurns), Each(Gt(0.0))); }

SkipIndexOptions IndexOf(const Dataset& dataset) {
  SkipIndexOptions options;
  options.columns = dataset.Columns();
  return options;
}

// A granule's filter against a set of values.
TEST(SeparateFiltersTest, AllValuesAreFoundAndOthersSeldom) {
  constexpr size_t kFilters = 150;
  SeparateFilters filters(kFilters, 1'000, 7);
  std::mt19937_64 random(1);
  std::vector<uint64_t> hashes;
  for (size_t i = 0; i < 100 * kFilters; ++i) {
    hashes.push_back(random());
    filters.Add(i / 100, hashes.back());
  }
  GranuleSet found = GranuleSet::None(kFilters);
  for (size_t i = 0; i < hashes.size(); ++i) {
    filters.FindContaining(hashes[i], &found);
    ASSERT_TRUE(found.Has(i / 100));
  }
  size_t num_found = 0;
  for (size_t i = 0; i < 1'000; ++i) {
    filters.FindContaining(random(), &found);
    num_found += found.Count();
  }
  // The model says 0.82 %; 150,000 filters were asked.
  EXPECT_NEAR(static_cast<double>(num_found) / (1'000 * kFilters), 0.0082, 0.0015);
}

// Against blocks counted by other means: each row alone in a block.
TEST(RowPlacesTest, KnowBlocksAndGranulesOfTheNewestVersions) {
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
  options.granule_rows = 10;
  options.block_granules = false;
  options.granule_bytes = 0;
  Database database(dataset, dir.path() / "db", options, /*direct_reads=*/false);
  database.Fill(RandomOrder(1'000, 1));
  const RowPlaces before(database.db(), dataset.rows);
  EXPECT_EQ(before.num_blocks(), 1'000U);
  EXPECT_GE(before.num_granules(), 100U);
  const uint32_t rows[] = {0, 3, 5};
  EXPECT_EQ(before.CountBlocks(rows), 3U);
  EXPECT_EQ(before.CountGranules(rows), 1U);
  EXPECT_EQ(before.CountBlocksOfGranules(rows), 10U);
  database.Rewrite();
  const RowPlaces after(database.db(), dataset.rows);
  EXPECT_EQ(after.num_blocks(), 1'100U);
  EXPECT_EQ(after.CountBlocks(rows), 3U);
  EXPECT_EQ(after.CountGranules(rows), 2U);  // row 0 has moved
}

// What the run's "every answer was compared" rests on.
TEST(DatabaseTest, WrongAnswersAreFailures) {
  const TempDir dir(::testing::TempDir());
  const Dataset dataset = MakeRealDataset(PathsAndPackages(1'000), "package", 1);
  Database database(dataset, dir.path() / "db", IndexOf(dataset), /*direct_reads=*/false);
  database.Fill(KeyOrder(1'000));
  std::vector<std::string_view> values = dataset.Values(false);
  Query query = DrawQueries(dataset, 0, values, 1, 1).front();
  const ScanCost cost = database.Scan(query, values, Temperature::kCold, true);
  EXPECT_GT(cost.data_blocks, 0U);
  EXPECT_EQ(cost.explanation.rows_returned, query.rows.size());
  EXPECT_EQ(database.Scan(query, values, Temperature::kWarm, true).data_blocks, 0U);

  const auto failure = [&] {
    return FailureOf([&] { database.Scan(query, values, Temperature::kCold, true); });
  };
  EXPECT_EQ(failure(), "no failure");
  query.rows.pop_back();
  EXPECT_THAT(failure(), HasSubstr("more rows than match"));
  query.rows.push_back(0);
  EXPECT_THAT(failure(), HasSubstr("does not match"));
  query.rows.clear();
  EXPECT_THAT(failure(), HasSubstr("more rows than match"));
}

TEST(AnalysisTest, BothWaysOfAskingAgreeAndAreTimed) {
  const AnalysisResult result = MeasureAnalysis(300, 20, 1, 0.001);
  EXPECT_EQ(result.granules, 300U);
  EXPECT_THAT(result.nanoseconds, EachTurnTook());
  EXPECT_THAT(result.separate_nanoseconds, EachTurnTook());
  EXPECT_GE(result.separate_bytes, 300U * 20 * 9 / 8);
  ASSERT_EQ(result.in_lists.size(), 2U);
  EXPECT_EQ(result.in_lists[1].values, 1'000U);
  EXPECT_THAT(result.in_lists[1].nanoseconds, EachTurnTook());
}

TEST(IndexSizeTest, PartsAddUp) {
  const Dataset dataset = MakeSyntheticDataset(kScatteredValues, 1);
  const IndexSizeResult size = MeasureIndexSize(dataset, 1, 1'024);
  EXPECT_EQ(size.distinct_values, kScatteredValues);
  EXPECT_EQ(size.granules, kScatteredValues / 1'024);
  EXPECT_LE(size.filter_bytes + size.bounds_bytes + size.key_bytes, size.bytes);
  EXPECT_GT(size.bits_per_value(), 6.64);  // the least at 1 %
}

TEST(FormsTest, BothFormsAreBuiltAndAsked) {
  Progress progress;
  const Dataset dataset = MakeRealDataset(PathsAndPackages(5'000), "package", 1);
  std::vector<FormColumn> columns = FormColumnsOf(dataset);
  for (FormColumn& column : SyntheticFormColumns(128'000, 1)) columns.push_back(std::move(column));
  ASSERT_EQ(columns.size(), 6U);
  for (const FormColumn& column : columns) {
    SCOPED_TRACE(column.column);
    const FormResult result = MeasureForm(column, 1, 0.001, 1, progress);
    EXPECT_GT(result.values, 0U);
    EXPECT_GE(result.pairs, result.values);
    EXPECT_THAT(result.build_nanoseconds, ElementsAre(Gt(0.0)));
    EXPECT_LE(result.filter_bytes, result.slices_filter_bytes);
    EXPECT_LT(result.filter_bytes, result.index_bytes);
    if (result.form == "postings") {
      EXPECT_EQ(result.false_granules, 0);
    }
    ASSERT_EQ(result.times.size(), column.values_together == 0 ? 3U : 4U);
    for (const FormTimes& times : result.times) {
      EXPECT_THAT(times.nanoseconds, EachTurnTook()) << times.question;
      EXPECT_THAT(times.slices_nanoseconds, EachTurnTook()) << times.question;
    }
  }
  EXPECT_EQ(MeasureForm(columns[5], 1, 0.001, 1, progress).form, "grouped postings");
}

// The whole job on few rows: the figures must fit together.
TEST(ExperimentTest, FiguresFitTogether) {
  const TempDir dir(::testing::TempDir());
  Effort effort = Effort::Quick();
  effort.synthetic_rows = kScatteredValues;
  effort.queries = 10;
  effort.fpr_queries = 200;
  effort.granule_rows = {kDefaultGranuleRows, 1'024};
  effort.analyses = {{1'000, 16}};
  effort.analysis_seconds = 0.001;
  effort.write_rounds = 1;
  Progress progress;
  const Results results =
      RunExperiment(PathsAndPackages(20'000), "package", effort, 1, dir.path(), progress);
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));

  ASSERT_EQ(results.scans.size(), 2U * 2 * 2 * 2);  // datasets, sizes, states, columns
  for (const ScanResult& scan : results.scans) {
    SCOPED_TRACE(fmt::format("{}, {}, {}, {}", scan.dataset, scan.column, scan.granule_rows,
                             scan.rewritten));
    EXPECT_EQ(scan.queries, 10U);
    EXPECT_GE(scan.rows, scan.queries);
    EXPECT_LE(scan.oracle_blocks, scan.granule_blocks);
    // A scan may read less than whole granules, but never less than the oracle.
    EXPECT_GE(scan.data_blocks_read, scan.oracle_blocks);
    EXPECT_LT(scan.data_blocks_read, scan.queries * scan.full_scan_blocks);
    EXPECT_LE(scan.granules_matching, scan.queries * scan.granules);
    EXPECT_GE(scan.granules_selected, scan.granules_matching);
    EXPECT_THAT(scan.query_seconds, AllOf(SizeIs(scan.queries), Each(Gt(0.0))));
    EXPECT_THAT(scan.full_scan_seconds, AllOf(SizeIs(Gt(1U)), Each(Gt(0.0))));
  }
  EXPECT_EQ(results.fpr_scans.size(), 4U);
  EXPECT_EQ(results.sizes.size(), 4U);
  EXPECT_EQ(results.writes.size(), 2U);
  for (const WriteCostResult& write : results.writes) {
    EXPECT_EQ(write.seconds_with.size(), 1U);
    EXPECT_EQ(write.seconds_without.size(), 1U);
  }
  EXPECT_EQ(results.analyses.size(), 1U);

  WriteJson(results, dir.path() / "new" / "dir");
  const nlohmann::json json =
      nlohmann::json::parse(std::ifstream(dir.path() / "new" / "dir" / "skip.json"));
  EXPECT_EQ(json["scans"].size(), results.scans.size());
  for (const auto& scan : json["scans"]) {
    EXPECT_EQ(scan["against_target_fpr"].is_null(), scan["rewritten"].get<bool>());
    EXPECT_DOUBLE_EQ(scan["data_blocks_per_query"].get<double>() * 10,
                     scan["data_blocks_read"].get<double>());
  }
}

}  // namespace
}  // namespace blocksieve::bench::skip
