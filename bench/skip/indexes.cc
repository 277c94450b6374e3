#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "bench/skip/experiment.h"
#include "bench/support/measure.h"
#include "blocksieve/column.h"
#include "lib/column/values.h"
#include "lib/granule/granule_index.h"

namespace blocksieve::bench::skip {
namespace {

constexpr size_t kValuesPerBatch = 64;
constexpr unsigned kBuildings = 3;
constexpr unsigned kAnalysisTurns = 9;

// The builder of an index of one column, without limits on granules other than `granule_rows`.
GranuleIndexBuilder NewBuilder(GranuleColumnOptions column, uint64_t granule_rows) {
  column.target_fpr = 0.01;
  GranuleIndexOptions options;
  options.granule_rows = granule_rows;
  options.granule_bytes = 0;
  options.max_index_bytes = 0;
  options.columns = {column};
  return Must(GranuleIndexBuilder::Create(options), "skip index");
}

// Builds an index of a column of all rows.
std::string BuildColumnIndex(const Dataset& dataset, const Column& column, uint64_t granule_rows) {
  GranuleColumnOptions options;
  options.type = column.type();
  options.with_bounds = internal::TokeniserOf(column) == Tokeniser::kNone;  // as SkipIndexBuilder
  GranuleIndexBuilder builder = NewBuilder(options, granule_rows);
  for (size_t row = 0; row < dataset.rows.size(); ++row) {
    builder.StartRow(dataset.rows.key(row), 0);
    internal::ForEachIndexed(column, dataset.rows.value(row), [&](const Value& value) {
      builder.AddValue(0, value);
      return true;
    });
  }
  return Must(builder.Finish(), "skip index");
}

// Builds an index of granules with random values.
std::string BuildIndex(uint64_t num_granules, uint64_t distinct_values, uint64_t seed) {
  GranuleColumnOptions column;
  column.type = ValueType::kUint;
  column.with_bounds = false;
  GranuleIndexBuilder builder = NewBuilder(column, /*granule_rows=*/0);
  std::mt19937_64 random(seed);
  for (uint64_t g = 0; g < num_granules; ++g) {
    if (g % 1'024 == 0) CheckInterrupt();
    builder.StartRow("key", 100);
    for (uint64_t i = 0; i < distinct_values; ++i) builder.AddValue(0, Value::Uint(random()));
    builder.CloseGranule();
  }
  return Must(builder.Finish(), "skip index");
}

void MeasureIndexSize(const Dataset& dataset, const QueriedColumn& column, uint64_t granule_rows,
                      Results& results) {
  const std::string bytes = BuildColumnIndex(dataset, column.column, granule_rows);
  const GranuleIndex index = Must(GranuleIndex::Open(AsBytes(bytes)), "skip index");
  if (index.column(0).filters != PartState::kPresent) {
    Fail("{}: no filters: {}", column.description, PartStateName(index.column(0).filters));
  }
  const uint64_t values = index.column(0).num_distinct;
  const auto bits = [&](uint64_t part) { return Ratio(8 * part, values); };
  results.Of("index", {{"column", NameOf(dataset, column)}, {"granule rows", granule_rows}})
      .Add("distinct per granule", "", Ratio(values, index.num_granules()))
      .Add("size", "bytes", index.index_bytes())
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
      MeasureIndexSize(dataset, each, granule_rows, results);
    }
  }
}

void MeasureAnalysis(uint64_t num_granules, uint64_t distinct_values, double seconds, Job& job) {
  job.progress.Show(
      fmt::format("analysis of {} granules of {} values", num_granules, distinct_values));
  std::string bytes;
  std::vector<double> build_seconds, open_seconds;
  for (unsigned turn = 0; turn < kBuildings; ++turn) {
    const Stopwatch building;
    bytes = BuildIndex(num_granules, distinct_values, job.options.seed);
    build_seconds.push_back(Ratio(building.Seconds(), num_granules * distinct_values));
    const Stopwatch opening;
    Must(GranuleIndex::Open(AsBytes(bytes)), "skip index");
    open_seconds.push_back(opening.Seconds());
  }
  const GranuleIndex index = Must(GranuleIndex::Open(AsBytes(bytes)), "skip index");
  const GranuleSet all = GranuleSet::All(static_cast<size_t>(num_granules));
  GranuleSet candidates = all;
  std::mt19937_64 random(job.options.seed + 1);
  std::vector<uint64_t> hashes(kValuesPerBatch);
  std::vector<double> medians;
  for (unsigned turn = 0; turn < kAnalysisTurns; ++turn) {
    std::vector<double> batches;
    const Stopwatch turn_time;
    do {
      CheckInterrupt();
      for (uint64_t& hash : hashes) hash = Value::Uint(random()).Hash();
      const Stopwatch stopwatch;
      for (const uint64_t hash : hashes) {
        std::copy(all.words().begin(), all.words().end(), candidates.words().begin());
        index.column_index(0).PruneByHash(hash, &candidates);
      }
      batches.push_back(stopwatch.Seconds() / kValuesPerBatch);
    } while (turn_time.Seconds() < seconds / kAnalysisTurns);
    medians.push_back(SpreadOf(std::move(batches)).median);
  }
  job.results.Of("analysis", {{"granules", num_granules}, {"values", distinct_values}})
      .AddTurns("time", "s", medians)
      .Add("bytes read, maximum", "bytes", index.column(0).probe_bytes)
      .AddTurns("time to open", "s", open_seconds)
      .AddTurns("time to build, per value", "s", build_seconds);
}

}  // namespace blocksieve::bench::skip
