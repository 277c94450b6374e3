// SPDX-License-Identifier: Apache-2.0
#include "bench/skip/experiment.h"

#include "bench/skip/scan_database.h"
#include "bench/support/measure.h"

namespace blocksieve::bench::skip {
namespace {

// Rows of an input. Each value becomes "key TAB minute TAB value", as a skip index sees values
// only. Columns: the value's first field, named `value_name`, clustered or not; the minute, which
// grows with the key as time does in keys that begin with it; and the words of the key.
Dataset MakeDataset(const Input& input, std::string_view value_name, uint64_t seed) {
  constexpr size_t kRewrittenOneIn = 5;
  constexpr size_t kRowsOfMinute = 100;
  Dataset dataset;
  dataset.description = input.description;
  for (size_t row = 0; row < input.rows.size(); ++row) {
    dataset.rows.Add(input.rows.key(row), fmt::format("{}\tm{}\t{}", input.rows.key(row),
                                                      row / kRowsOfMinute, input.rows.value(row)));
  }
  dataset.rows.Seal();
  dataset.columns = {
      {Must(Column::Parse(fmt::format("{}=field:3", value_name)), "column"),
       fmt::format("{} = v", value_name), true},
      {Must(Column::Parse("minute=field:2"), "column"), "minute = v, in key order", true},
      {Must(Column::Parse("words=words:1"), "column"), "words of the key HAS v", false},
  };
  std::vector<uint32_t> rewritten = RandomOrder(dataset.rows.size(), seed);
  rewritten.resize(rewritten.size() / kRewrittenOneIn);
  for (const uint32_t row : rewritten) {
    dataset.rewritten.Add(dataset.rows.key(row), dataset.rows.value(row));
  }
  dataset.rewritten.Seal();
  return dataset;
}

// Fills databases with all rows in random order, flushes and compacts them: alternately with a
// default index of one column and without an index.
void MeasureWriteCost(const Dataset& dataset, const Effort& effort, Job& job) {
  const std::vector<uint32_t> order = RandomOrder(dataset.rows.size(), job.options.seed);
  for (size_t column = 0; column < effort.write_columns; ++column) {
    const std::string name = dataset.columns[column].description;
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

std::vector<Column> Dataset::Columns() const {
  std::vector<Column> all;
  for (const QueriedColumn& each : columns) all.push_back(each.column);
  return all;
}

void RunExperiment(const Input& input, std::string_view value_name, const Effort& effort,
                   Job& job) {
  job.progress.Show("making rows");
  const Dataset dataset = MakeDataset(input, value_name, job.options.seed);
  job.results.title = "Scans by value in RocksDB";
  job.results.lead = fmt::format(
      "Scans for the rows with one value in a column. Data blocks: blocks of 4 KiB that a scan "
      "reads {}, with an empty block cache, as counted by RocksDB. Minimum: the blocks that hold a "
      "matching row. A granule is the unit that a skip index rules out, by default a data block. "
      "Every result was checked.\nInput: {}",
      job.cold_reads, dataset.description);
  MeasureScans(dataset, effort, job);
  MeasureKeyParts(effort.num_series, job);
  MeasureWriteCost(dataset, effort, job);
}

}  // namespace blocksieve::bench::skip
