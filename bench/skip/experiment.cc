#include "bench/skip/experiment.h"

#include <optional>
#include <string>
#include <vector>

#include "bench/skip/scan_database.h"
#include "bench/support/files.h"
#include "bench/support/measure.h"

namespace blocksieve::bench::skip {
namespace {

// Fills databases with all rows in random order, flushes and compacts them: alternately with a
// default index of one column and without an index.
void MeasureWriteCost(const Dataset& dataset, const Effort& effort, Job& job) {
  const std::vector<uint32_t> order = RandomOrder(dataset.rows.size(), job.options.seed);
  for (size_t column = 0; column < effort.write_columns; ++column) {
    const std::string name = NameOf(dataset, dataset.columns[column]);
    std::vector<double> seconds[2], processor[2];  // without an index and with one
    InTurns(effort.write_rounds, 2, [&](size_t with, unsigned turn) {
      job.progress.Show(fmt::format("{}: filling with and without index, round {} of {}", name,
                                    turn + 1, effort.write_rounds));
      std::optional<SkipIndexOptions> index;
      if (with == 1) index.emplace().columns = {dataset.columns[column].column};
      const TempDir dir(job.db_dir);
      ScanDatabase database(dataset, dir.path(), index);
      const Stopwatch stopwatch;
      database.Fill(order);
      seconds[with].push_back(stopwatch.Seconds());
      processor[with].push_back(stopwatch.CpuSeconds());
    });
    job.results.In("Filling a database in random order, without and with an index")[name]
        .Add("time: without", "s", seconds[0])
        .Add("time: with", "s", seconds[1])
        .Add("time: ratio", "x", PairedRatio(seconds[1], seconds[0]), NotAbove(1.1))
        .Add("processor: ratio", "x", PairedRatio(processor[1], processor[0]));
  }
}

}  // namespace

void RunExperiment(const Input& input, std::string_view value_name, const Effort& effort,
                   Job& job) {
  constexpr uint64_t kBytesPerValue = 12;  // building keeps 8, and filters take less than 2
  job.progress.Show("making rows");
  const uint64_t seed = job.options.seed;
  const Dataset datasets[] = {MakeRealDataset(input, value_name, seed),
                              MakeSyntheticDataset(effort.synthetic_rows, seed)};
  job.results.title = "Scans by value in RocksDB";
  job.results.lead = fmt::format(
      "Scans for the rows with one value in a column. Data blocks: blocks of 4 KiB that a scan "
      "reads {} with an empty block cache, as counted by RocksDB. Minimum: the blocks that hold a "
      "matching row. A granule is the unit that a skip index rules out: a data block, or a number "
      "of rows. Every result was checked.\nReal rows: {} Synthetic rows: {}",
      job.cold_reads, datasets[0].description, datasets[1].description);
  for (const Dataset& dataset : datasets) {
    MeasureScans(dataset, effort, job);
    MeasureIndexSizes(dataset, effort, job.results);
    MeasureWriteCost(dataset, effort, job);
  }
  for (const uint64_t values : effort.analysed_values) {
    for (const uint64_t granules : effort.analysed_granules) {
      if (granules * values * kBytesPerValue > MemoryBytes() / 2) continue;
      if (granules * values > effort.max_analysed_values) continue;
      MeasureAnalysis(granules, values, effort.analysis_seconds, job);
    }
  }
}

}  // namespace blocksieve::bench::skip
