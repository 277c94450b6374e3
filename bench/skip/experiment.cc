#include "bench/skip/experiment.h"

#include <fmt/format.h>

#include "bench/skip/analysis.h"
#include "bench/skip/costs.h"
#include "bench/skip/scans.h"
#include "bench/support/dataset.h"
#include "bench/support/files.h"
#include "bench/support/measure.h"

namespace blocksieve::bench::skip {
namespace {

void MeasureAnalyses(const Effort& effort, uint64_t seed, Progress& progress, Results& results) {
  for (const auto& [granules, values] : effort.analyses) {
    if (AnalysisMemory(granules, values) > MemoryBytes() / 2) continue;
    progress.Show(fmt::format("analysis of {} granules of {} values", granules, values));
    results.analyses.push_back(MeasureAnalysis(granules, values, seed, effort.analysis_seconds));
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
  MeasureAnalyses(effort, seed, progress, results);
  results.seconds = stopwatch.Seconds();
  return results;
}

}  // namespace blocksieve::bench::skip
