#include "bench/skip/experiment.h"

#include <fmt/format.h>

#include <string>

#include "bench/skip/analysis.h"
#include "bench/support/measure.h"

namespace blocksieve::bench::skip {

void RunExperiment(const Input& input, std::string_view value_name, const Effort& effort,
                   const Place& place, Results& results) {
  place.progress.Show("making rows");
  const Dataset datasets[] = {MakeRealDataset(input, value_name, place.seed),
                              MakeSyntheticDataset(effort.synthetic_rows, place.seed)};
  for (const Dataset& dataset : datasets) {
    results.SetFact(dataset.name.c_str(), dataset.description);
    MeasureScans(dataset, effort, place, results);
    MeasureIndexSizes(dataset, effort, results);
    MeasureWriteCost(dataset, effort, place, results);
  }
  MeasureCarriers(datasets[0], effort, place, results);
  MeasureForms(datasets[0], effort, place, results);
  for (const uint64_t values : effort.analysed_values) {
    for (const uint64_t granules : effort.analysed_granules) {
      if (AnalysisMemory(granules, values) > MemoryBytes() / 2) continue;
      if (granules * values > effort.max_analysed_values) continue;
      place.progress.Show(fmt::format("analysis of {} granules of {} values", granules, values));
      MeasureAnalysis(granules, values, place.seed, effort.analysis_seconds, results);
    }
  }
}

}  // namespace blocksieve::bench::skip
