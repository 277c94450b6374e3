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
  const bool has_target = granule_rows == kDefaultGranuleRows && dataset.name == "real";
  results
      .In("Index of one column at an FPR of 1 %: bits per distinct value of a granule")[fmt::format(
          "{}, granules of {} rows", NameOf(dataset, column), granule_rows)]
      .Add("distinct per granule", "", Ratio(values, index.num_granules()))
      .Add("size", "bytes", index.index_bytes())
      .Add("bits per value: all", "", bits(index.index_bytes()),
           has_target ? NotAbove(9) : Target{})
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
  const std::string name = fmt::format("{} granules of {} values", num_granules, distinct_values);
  job.progress.Show("analysis of " + name);
  const Stopwatch building;
  const std::string bytes = BuildIndex(num_granules, distinct_values, job.options.seed);
  const double build_seconds = Ratio(building.Seconds(), num_granules * distinct_values);
  const GranuleIndex index = Must(GranuleIndex::Open(AsBytes(bytes)), "skip index");
  const GranuleSet all = GranuleSet::All(static_cast<size_t>(num_granules));
  GranuleSet candidates = all;
  std::mt19937_64 random(job.options.seed + 1);
  std::vector<double> turns;
  for (unsigned turn = 0; turn < kAnalysisTurns; ++turn) {
    CheckInterrupt();
    uint64_t evaluated = 0;
    const Stopwatch stopwatch;
    do {
      std::copy(all.words().begin(), all.words().end(), candidates.words().begin());
      index.column_index(0).PruneByHash(Value::Uint(random()).Hash(), &candidates);
      ++evaluated;
    } while (stopwatch.Seconds() < seconds / kAnalysisTurns);
    turns.push_back(Ratio(stopwatch.Seconds(), evaluated));
  }
  job.results.In("Evaluation of an index in memory for one value, at an FPR of 1 %")[name]
      .Add("time", "s", turns)
      .Add("bytes read, maximum", "bytes", index.column(0).probe_bytes)
      .Add("time to build, per value", "s", build_seconds);
}

}  // namespace blocksieve::bench::skip
