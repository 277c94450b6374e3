#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "bench/skip/experiment.h"
#include "bench/support/measure.h"
#include "blocksieve/column.h"
#include "lib/granule/granule_index.h"

namespace blocksieve::bench::skip {
namespace {

constexpr size_t kValuesPerBatch = 64;
constexpr unsigned kBuildings = 3;

// Builds an index of granules with random values.
std::string BuildIndex(uint64_t num_granules, uint64_t distinct_values, uint64_t seed) {
  GranuleColumnOptions column;
  column.type = ValueType::kUint;
  column.target_fpr = 0.01;
  column.with_bounds = false;
  GranuleIndexOptions options;
  options.granule_rows = 0;
  options.granule_bytes = 0;
  options.max_index_bytes = 0;
  options.columns = {column};
  GranuleIndexBuilder builder = Must(GranuleIndexBuilder::Create(options), "skip index");
  std::mt19937_64 random(seed);
  for (uint64_t g = 0; g < num_granules; ++g) {
    if (g % 1'024 == 0) CheckInterrupt();
    builder.StartRow("key", 100);
    for (uint64_t i = 0; i < distinct_values; ++i) builder.AddValue(0, Value::Uint(random()));
    builder.CloseGranule();
  }
  return Must(builder.Finish(), "skip index");
}

}  // namespace

void MeasureAnalysis(uint64_t num_granules, uint64_t distinct_values, double seconds, Job& job) {
  job.progress.Show(
      fmt::format("analysis of {} granules of {} values", num_granules, distinct_values));
  std::string bytes;
  std::vector<double> build_seconds, open_seconds;
  for (unsigned turn = 0; turn < kBuildings; ++turn) {
    const Stopwatch building;
    bytes = BuildIndex(num_granules, distinct_values, job.options.seed);
    build_seconds.push_back(building.Seconds() /
                            static_cast<double>(num_granules * distinct_values));
    const Stopwatch opening;
    Must(GranuleIndex::Open(AsBytes(bytes)), "skip index");
    open_seconds.push_back(opening.Seconds());
  }
  const GranuleIndex index = Must(GranuleIndex::Open(AsBytes(bytes)), "skip index");
  const GranuleSet all = GranuleSet::All(static_cast<size_t>(num_granules));
  GranuleSet candidates = all;
  std::mt19937_64 random(job.options.seed + 1);
  std::vector<uint64_t> hashes(kValuesPerBatch);
  const auto time_one = [&] {
    for (uint64_t& hash : hashes) hash = Value::Uint(random()).Hash();
    const Stopwatch stopwatch;
    for (const uint64_t hash : hashes) {
      std::copy(all.words().begin(), all.words().end(), candidates.words().begin());
      index.column_index(0).PruneByHash(hash, &candidates);
    }
    return stopwatch.Seconds() / kValuesPerBatch;
  };
  job.results.Of("analysis", {{"granules", num_granules}, {"values", distinct_values}})
      .AddTurns("time", "s", TakeTurns(seconds, time_one))
      .Add("bytes read, maximum", "bytes", static_cast<double>(index.column(0).probe_bytes))
      .AddTurns("time to open", "s", open_seconds)
      .AddTurns("time to build, per value", "s", build_seconds);
}

}  // namespace blocksieve::bench::skip
