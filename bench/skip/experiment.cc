#include "bench/skip/experiment.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "bench/skip/analysis.h"
#include "bench/skip/carriers.h"
#include "bench/skip/costs.h"
#include "bench/skip/database.h"
#include "bench/skip/forms.h"
#include "bench/skip/row_places.h"
#include "bench/support/dataset.h"
#include "bench/support/files.h"
#include "bench/support/measure.h"
#include "bench/support/terminal.h"

namespace blocksieve::bench::skip {
namespace {

constexpr unsigned kFullScans = 3;

// A value that no row has: a full scan for it returns nothing, and reads everything.
ScanCost FullScan(Database& database, const Dataset& dataset, size_t column) {
  const Result<Predicate> nothing =
      Predicate::Has(dataset.columns[column].column, Value::Bytes("nosuchvalue"));
  if (!nothing.ok()) Fail("{}", nothing.status().message());
  return database.Scan({"", *nothing, {}}, {}, Temperature::kCold, /*use_index=*/false);
}

struct Measured {
  const Dataset& dataset;
  Database& database;
  const RowPlaces& places;
  const std::vector<std::string_view>& values;
  const SkipIndexOptions& index;
  bool is_rewritten;

  ScanResult ByColumn(size_t column, size_t num_queries, uint64_t seed,
                      Temperature temperature) const {
    ScanResult result;
    result.dataset = dataset.name;
    result.column = dataset.columns[column].description;
    result.clustered = dataset.columns[column].is_clustered;
    result.rewritten = is_rewritten;
    result.granule_rows = index.granule_rows;
    result.target_fpr = index.target_fpr;
    result.granules = places.num_granules();
    for (const Query& query : DrawQueries(dataset, column, values, num_queries, seed)) {
      const ScanCost cost = database.Scan(query, values, temperature, /*use_index=*/true);
      Add(query, cost, result);
      if (temperature == Temperature::kCold) result.query_seconds.push_back(cost.seconds);
    }
    for (unsigned turn = 0; turn < kFullScans; ++turn) {
      const ScanCost full = FullScan(database, dataset, column);
      result.full_scan_blocks = full.data_blocks;
      result.full_scan_seconds.push_back(full.seconds);
      if (full.data_blocks != places.num_blocks()) {
        Fail("a full scan read {} data blocks, the files have {}", full.data_blocks,
             places.num_blocks());
      }
    }
    return result;
  }

  void Add(const Query& query, const ScanCost& cost, ScanResult& result) const {
    ++result.queries;
    result.rows += query.rows.size();
    result.data_blocks_read += cost.data_blocks;
    result.oracle_blocks += places.CountBlocks(query.rows);
    result.rows_rechecked += cost.explanation.rows_rechecked;
    result.turned_into_full_scans += cost.explanation.is_full_scan;
    result.granules_selected += cost.explanation.granules_selected;
    result.granules_matching += places.CountGranules(query.rows);
    result.granule_blocks += places.CountBlocksOfGranules(query.rows);
  }
};

// Fills a database for every granule size and scans it by each column, compacted and after a fifth
// of the rows was rewritten. Adds to `results.scans`, and to `fpr_scans`.
void MeasureScans(const Dataset& dataset, const Effort& effort, uint64_t seed,
                  const std::filesystem::path& db_dir, Progress& progress, Results& results) {
  const std::vector<std::string_view> values = dataset.Values(/*after_rewriting=*/false);
  for (const uint64_t granule_rows : effort.granule_rows) {
    const auto show = [&](std::string_view what) {
      progress.Show(fmt::format("{} rows, granules of {}: {}", dataset.name, granule_rows, what));
    };
    SkipIndexOptions index;
    index.columns = dataset.Columns();
    index.granule_rows = granule_rows;
    if (granule_rows != kDefaultGranuleRows) {
      index.block_granules = false;
      index.granule_bytes = 0;
      index.max_index_bytes = 0;
    }
    const std::filesystem::path path = db_dir / "db";
    {
      Database database(dataset, path, index, results.direct_reads);
      show("filling");
      database.Fill(KeyOrder(dataset.rows.size()));
      const auto measure = [&](const std::vector<std::string_view>& visible, bool is_rewritten) {
        const RowPlaces places(database.db(), dataset.rows);
        const Measured measured{dataset, database, places, visible, index, is_rewritten};
        for (size_t column = 0; column < dataset.columns.size(); ++column) {
          results.scans.push_back(
              measured.ByColumn(column, effort.queries, seed, Temperature::kCold));
          if (granule_rows != kDefaultGranuleRows || is_rewritten) continue;
          results.fpr_scans.push_back(
              measured.ByColumn(column, effort.fpr_queries, seed + 1, Temperature::kWarm));
        }
      };
      show("scanning");
      measure(values, false);
      show("rewriting a fifth of the rows");
      database.Rewrite();
      show("scanning, a fifth rewritten");
      measure(dataset.Values(/*after_rewriting=*/true), true);
    }
    std::filesystem::remove_all(path);
  }
}

void MeasureAnalyses(const Effort& effort, uint64_t seed, Progress& progress, Results& results) {
  for (const auto& [granules, values] : effort.analyses) {
    if (AnalysisMemory(granules, values) > MemoryBytes() / 2) continue;
    progress.Show(fmt::format("analysis of {} granules of {} values", granules, values));
    results.analyses.push_back(MeasureAnalysis(granules, values, seed, effort.analysis_seconds));
  }
}

void MeasureForms(const std::vector<FormColumn>& columns, const Effort& effort, uint64_t seed,
                  Progress& progress, Results& results) {
  for (const FormColumn& column : columns) {
    results.forms.push_back(
        MeasureForm(column, effort.form_rounds, effort.form_seconds, seed, progress));
  }
}

}  // namespace

Results RunExperiment(const Input& input, std::string_view value_name, const Effort& effort,
                      uint64_t seed, const std::filesystem::path& db_dir, Progress& progress) {
  const Stopwatch stopwatch;
  Results results;
  results.direct_reads = SupportsDirectReads(db_dir);
  progress.Show("making rows");
  const Dataset datasets[] = {MakeRealDataset(input, value_name, seed),
                              MakeSyntheticDataset(effort.synthetic_rows, seed)};
  for (const Dataset& dataset : datasets) {
    results.inputs.push_back(fmt::format("{} rows: {}", dataset.name, dataset.description));
    MeasureScans(dataset, effort, seed, db_dir, progress, results);
    // By clustered values an index is the keys' part mostly, which others share.
    for (size_t column = 0; column < dataset.columns.size(); ++column) {
      if (dataset.columns[column].is_clustered) continue;
      for (const uint64_t granule_rows : effort.granule_rows) {
        results.sizes.push_back(MeasureIndexSize(dataset, column, granule_rows));
      }
    }
    for (size_t column = 0; column < effort.write_columns; ++column) {
      results.writes.push_back(
          MeasureWriteCost(dataset, column, effort.write_rounds, seed, db_dir, progress));
    }
  }
  results.carriers =
      MeasureCarriers(datasets[0], effort.lookup_rounds, effort.lookups, seed, db_dir, progress);
  MeasureForms(FormColumnsOf(datasets[0]), effort, seed, progress, results);
  MeasureForms(SyntheticFormColumns(effort.synthetic_rows, seed), effort, seed, progress, results);
  MeasureAnalyses(effort, seed, progress, results);
  results.seconds = stopwatch.Seconds();
  return results;
}

}  // namespace blocksieve::bench::skip
