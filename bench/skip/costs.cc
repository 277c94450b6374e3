#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "bench/skip/column_index.h"
#include "bench/skip/experiment.h"
#include "bench/skip/scan_database.h"
#include "bench/support/files.h"
#include "bench/support/measure.h"
#include "bench/support/terminal.h"
#include "blocksieve/granule_index.h"

namespace blocksieve::bench::skip {
namespace {

constexpr double kTargetFpr = 0.01;

void MeasureIndexSize(const IndexedColumn& column, uint64_t granule_rows, Results& results) {
  const std::string bytes =
      BuildColumnIndex(column, granule_rows, kTargetFpr, /*with_postings=*/true);
  const GranuleIndex index = Must(GranuleIndex::Open(AsBytes(bytes)), "skip index");
  if (index.column(0).filters != GranulePart::kPresent) {
    Fail("{}: no filters: {}", column.name, GranulePartName(index.column(0).filters));
  }
  const auto values = static_cast<double>(index.column(0).num_distinct);
  const auto bits = [&](uint64_t part) { return 8 * static_cast<double>(part) / values; };
  results.Of("index", {{"column", column.name}, {"granule rows", granule_rows}})
      .Add("distinct per granule", "", values / static_cast<double>(index.num_granules()))
      .Add("size", "bytes", static_cast<double>(index.index_bytes()))
      .Add("bits per value: all", "", bits(index.index_bytes()))
      .Add("bits per value: filters", "", bits(index.column(0).filter_bytes))
      .Add("bits per value: bounds", "", bits(index.column(0).bounds_bytes))
      .Add("bits per value: keys", "", bits(index.key_bytes()));
}

}  // namespace

void MeasureIndexSizes(const Dataset& dataset, const Effort& effort, Results& results) {
  for (const QueriedColumn& each : dataset.columns) {
    if (each.is_clustered) continue;
    for (const uint64_t granule_rows : effort.granule_rows) {
      MeasureIndexSize(ColumnOf(dataset, each.column, each.description), granule_rows, results);
    }
  }
}

void MeasureWriteCost(const Dataset& dataset, const Effort& effort, const Place& place,
                      Results& results) {
  const std::vector<uint32_t> order = RandomOrder(dataset.rows.size(), place.seed);
  for (size_t column = 0; column < effort.write_columns; ++column) {
    const std::string name =
        fmt::format("{}, {}", dataset.name, dataset.columns[column].description);
    std::vector<double> seconds[2], processor[2];  // without an index and with one
    InTurns(effort.write_rounds, 2, [&](size_t with, unsigned turn) {
      place.progress.Show(fmt::format("{}: filling with and without index, round {} of {}", name,
                                      turn + 1, effort.write_rounds));
      std::optional<SkipIndexOptions> index;
      if (with == 1) index.emplace().columns = {dataset.columns[column].column};
      const TempDir dir(place.db_dir);
      ScanDatabase database(dataset, dir.path(), index);
      const Stopwatch stopwatch;
      database.Fill(order);
      seconds[with].push_back(stopwatch.Seconds());
      processor[with].push_back(stopwatch.CpuSeconds());
    });
    results.Of("filling", {{"column", name}})
        .AddTurns("time: without", "s", seconds[0])
        .AddTurns("time: with", "s", seconds[1])
        .Add("time: ratio", "x", PairedRatio(seconds[1], seconds[0]))
        .AddTurns("processor: without", "s", processor[0])
        .AddTurns("processor: with", "s", processor[1])
        .Add("processor: ratio", "x", PairedRatio(processor[1], processor[0]));
  }
}

}  // namespace blocksieve::bench::skip
