#include "bench/skip/experiment.h"

#include "bench/support/measure.h"

namespace blocksieve::bench::skip {

void RunExperiment(const Input& input, std::string_view value_name, const Effort& effort,
                   Job& job) {
  constexpr uint64_t kBytesPerValue = 12;  // building keeps 8, and filters take less than 2
  job.progress.Show("making rows");
  const uint64_t seed = job.options.seed;
  const Dataset datasets[] = {MakeRealDataset(input, value_name, seed),
                              MakeSyntheticDataset(effort.synthetic_rows, seed)};
  for (const Dataset& dataset : datasets) {
    job.results.SetFact(dataset.name.c_str(), dataset.description);
    MeasureScans(dataset, effort, job);
    MeasureIndexSizes(dataset, effort, job.results);
    MeasureWriteCost(dataset, effort, job);
  }
  MeasureCarriers(datasets[0], effort, job);
  for (const uint64_t values : effort.analysed_values) {
    for (const uint64_t granules : effort.analysed_granules) {
      if (granules * values * kBytesPerValue > MemoryBytes() / 2) continue;
      if (granules * values > effort.max_analysed_values) continue;
      MeasureAnalysis(granules, values, effort.analysis_seconds, job);
    }
  }
}

}  // namespace blocksieve::bench::skip
