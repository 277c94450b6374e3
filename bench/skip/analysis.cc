#include "bench/skip/analysis.h"

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "bench/skip/separate_filters.h"
#include "bench/support/failure.h"
#include "bench/support/interrupt.h"
#include "bench/support/median.h"
#include "bench/support/stopwatch.h"
#include "blocksieve/granule_index.h"
#include "blocksieve/granule_index_builder.h"
#include "blocksieve/value.h"
#include "lib/granule/sizing.h"

namespace blocksieve::bench::skip {
namespace {

constexpr double kTargetFpr = 0.01;
constexpr size_t kValuesPerBatch = 64;
constexpr size_t kMinBatches = 5;

template <class T>
T Must(Result<T> result) {
  if (!result.ok()) Fail("granule index: {}", result.status().message());
  return *std::move(result);
}

uint64_t HashOf(uint64_t number) { return Value::Uint(number).Hash(); }

SeparateFilters BuildSeparate(uint64_t num_granules, uint64_t distinct_values, uint64_t seed) {
  const auto sizer = Must(internal::FilterSizer::Create(kTargetFpr));
  SeparateFilters filters(static_cast<size_t>(num_granules), sizer.BitsFor(distinct_values),
                          sizer.num_probes());
  std::mt19937_64 random(seed);
  for (size_t g = 0; g < num_granules; ++g) {
    if (g % 1'024 == 0) CheckInterrupt();
    for (uint64_t i = 0; i < distinct_values; ++i) filters.Add(g, HashOf(random()));
  }
  return filters;
}

// Median nanoseconds of one call of `analyse(hash)`.
template <class Analyse>
double TimeOne(double seconds, std::mt19937_64& random, Analyse analyse) {
  std::vector<double> nanoseconds;
  std::vector<uint64_t> hashes(kValuesPerBatch);
  const Stopwatch all;
  while (nanoseconds.size() < kMinBatches || all.Seconds() < seconds) {
    CheckInterrupt();
    for (uint64_t& hash : hashes) hash = HashOf(random());
    const Stopwatch batch;
    for (const uint64_t hash : hashes) analyse(hash);
    nanoseconds.push_back(1e9 * batch.Seconds() / static_cast<double>(kValuesPerBatch));
  }
  return Median(std::move(nanoseconds));
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
  GranuleIndexBuilder builder = Must(GranuleIndexBuilder::Create(options));
  std::mt19937_64 random(seed);
  for (uint64_t g = 0; g < num_granules; ++g) {
    if (g % 1'024 == 0) CheckInterrupt();
    builder.StartRow("key", 100);
    for (uint64_t i = 0; i < distinct_values; ++i) builder.AddValue(0, Value::Uint(random()));
    builder.CloseGranule();
  }
  return Must(builder.Finish());
}

AnalysisResult MeasureAnalysis(uint64_t num_granules, uint64_t distinct_values, uint64_t seed,
                               double seconds) {
  const std::string bytes = BuildIndex(num_granules, distinct_values, seed);
  const GranuleIndex index = Must(GranuleIndex::Open(AsBytes(bytes)));
  const SeparateFilters separate = BuildSeparate(num_granules, distinct_values, seed);
  const ColumnIndex& transposed = index.column_index(0);

  const auto size = static_cast<size_t>(num_granules);
  const GranuleSet all = GranuleSet::All(size);
  GranuleSet ours = all;
  GranuleSet theirs = all;
  const auto analyse = [&](uint64_t hash) {
    std::copy(all.words().begin(), all.words().end(), ours.words().begin());
    transposed.KeepContaining(hash, &ours);
  };
  const auto analyse_separate = [&](uint64_t hash) { separate.FindContaining(hash, &theirs); };

  std::mt19937_64 present(seed);  // first the values that granules have, then others
  for (uint64_t i = 0; i < std::min<uint64_t>(2'000, 2 * distinct_values * num_granules); ++i) {
    const uint64_t hash = HashOf(present());
    analyse(hash);
    analyse_separate(hash);
    if (ours != theirs) Fail("transposed and separate filters differ at value {}", i);
  }

  AnalysisResult result;
  result.granules = num_granules;
  result.distinct_values = distinct_values;
  std::mt19937_64 random(seed + 1);
  result.nanoseconds = TimeOne(seconds, random, analyse);
  result.separate_nanoseconds = TimeOne(seconds, random, analyse_separate);
  result.probe_bytes = index.column(0).probe_bytes;
  result.separate_bytes = separate.num_bytes();
  return result;
}

uint64_t AnalysisMemory(uint64_t num_granules, uint64_t distinct_values) {
  // Building keeps 8 bytes per value, and each kind of filters takes less than 2.
  return num_granules * distinct_values * 12;
}

}  // namespace blocksieve::bench::skip
