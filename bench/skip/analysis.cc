#include "bench/skip/analysis.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "bench/skip/separate_filters.h"
#include "bench/support/measure.h"
#include "bench/support/terminal.h"
#include "blocksieve/granule_index.h"
#include "blocksieve/granule_index_builder.h"
#include "blocksieve/value.h"
#include "lib/granule/sizing.h"

namespace blocksieve::bench::skip {
namespace {

constexpr double kTargetFpr = 0.01;
constexpr size_t kValuesPerBatch = 64;
constexpr unsigned kBuildings = 3;

uint64_t HashOf(uint64_t number) { return Value::Uint(number).Hash(); }

SeparateFilters BuildSeparate(uint64_t num_granules, uint64_t distinct_values, uint64_t seed) {
  const auto sizer = Must(internal::FilterSizer::Create(kTargetFpr), "skip index");
  SeparateFilters filters(static_cast<size_t>(num_granules), sizer.BitsFor(distinct_values),
                          sizer.num_probes());
  std::mt19937_64 random(seed);
  for (size_t g = 0; g < num_granules; ++g) {
    if (g % 1'024 == 0) CheckInterrupt();
    for (uint64_t i = 0; i < distinct_values; ++i) filters.Add(g, HashOf(random()));
  }
  return filters;
}

// Seconds of one call of `analyse(hash)`.
template <class Analyse>
double TimeOne(std::mt19937_64& random, const Analyse& analyse) {
  std::vector<uint64_t> hashes(kValuesPerBatch);
  for (uint64_t& hash : hashes) hash = HashOf(random());
  const Stopwatch stopwatch;
  for (const uint64_t hash : hashes) analyse(hash);
  return stopwatch.Seconds() / kValuesPerBatch;
}

}  // namespace

std::string BuildIndex(uint64_t num_granules, uint64_t distinct_values, uint64_t seed) {
  GranuleIndexOptions options;
  options.granule_rows = 0;
  options.granule_bytes = 0;
  GranuleColumnOptions column;
  column.type = ValueType::kUint;
  column.target_fpr = kTargetFpr;
  column.with_bounds = false;
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

void MeasureAnalysis(uint64_t num_granules, uint64_t distinct_values, uint64_t seed, double seconds,
                     Results& results) {
  std::string bytes;
  std::vector<double> build_seconds, open_seconds;
  for (unsigned turn = 0; turn < kBuildings; ++turn) {
    const Stopwatch building;
    bytes = BuildIndex(num_granules, distinct_values, seed);
    build_seconds.push_back(building.Seconds() /
                            static_cast<double>(num_granules * distinct_values));
    const Stopwatch opening;
    Must(GranuleIndex::Open(AsBytes(bytes)), "skip index");
    open_seconds.push_back(opening.Seconds());
  }
  const GranuleIndex index = Must(GranuleIndex::Open(AsBytes(bytes)), "skip index");
  const SeparateFilters separate = BuildSeparate(num_granules, distinct_values, seed);
  const ColumnIndex& column = index.column_index(0);

  const auto size = static_cast<size_t>(num_granules);
  const GranuleSet all = GranuleSet::All(size);
  GranuleSet ours = all;
  GranuleSet theirs = all;
  const auto analyse = [&](uint64_t hash) {
    std::copy(all.words().begin(), all.words().end(), ours.words().begin());
    column.KeepContaining(hash, &ours);
  };
  const auto analyse_separate = [&](uint64_t hash) { separate.FindContaining(hash, &theirs); };

  std::mt19937_64 present(seed);  // the values that granules have, in their order
  for (uint64_t i = 0; i < std::min<uint64_t>(2'000, distinct_values * num_granules); ++i) {
    const uint64_t hash = HashOf(present());
    analyse(hash);
    analyse_separate(hash);
    const auto granule = static_cast<size_t>(i / distinct_values);
    if (!ours.Has(granule) || !theirs.Has(granule)) Fail("value {} was not found", i);
  }

  std::mt19937_64 random(seed + 1);
  const auto turns = TakeTurns(seconds, {[&] { return TimeOne(random, analyse); },
                                         [&] { return TimeOne(random, analyse_separate); }});
  const Json parameters = {{"granules", num_granules}, {"values", distinct_values}};
  results.Of("at once", parameters)
      .AddTurns("time", "s", turns[0])
      .Add("times as fast", "x", PairedRatio(turns[1], turns[0]))
      .Add("bytes read, at most", "bytes", static_cast<double>(index.column(0).probe_bytes))
      .AddTurns("time to open", "s", open_seconds)
      .AddTurns("time to build, per value", "s", build_seconds);
  results.Of("filter by filter", parameters)
      .AddTurns("time", "s", turns[1])
      .Add("bytes read, at most", "bytes", static_cast<double>(separate.num_bytes()));
}

uint64_t AnalysisMemory(uint64_t num_granules, uint64_t distinct_values) {
  // Building keeps 8 bytes per value, and each kind of filters takes less than 2.
  return num_granules * distinct_values * 12;
}

}  // namespace blocksieve::bench::skip
