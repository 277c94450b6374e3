// Analysis of a granule index: one equality over all granules at once, against classic Bloom
// filters of the same size and accuracy probed granule by granule.
//
//   granule_bench [--benchmark_filter=...]   arguments: granules, distinct values of each

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "bench/skip/separate_filters.h"
#include "blocksieve/granule_index.h"
#include "blocksieve/granule_index_builder.h"
#include "lib/granule/sizing.h"

namespace {

using namespace blocksieve;
using blocksieve::bench::SeparateFilters;

constexpr double kTargetFpr = 0.01;

template <class T>
T Must(Result<T> result) {
  if (!result.ok()) {
    std::cerr << result.status().message() << '\n';
    std::exit(1);
  }
  return *std::move(result);
}

/// `counts[g]` distinct values in granule g.
std::string BuildIndex(const std::vector<uint64_t>& counts, ValueType type = ValueType::kUint) {
  GranuleIndexOptions options;
  options.granule_rows = 0;
  options.granule_bytes = 0;
  GranuleColumnOptions column;
  column.type = type;
  column.target_fpr = kTargetFpr;
  options.columns = {column};
  GranuleIndexBuilder builder = Must(GranuleIndexBuilder::Create(options));
  std::mt19937_64 random(1);
  for (const uint64_t count : counts) {
    builder.StartRow("key", 100);
    for (uint64_t i = 0; i < count; ++i) builder.AddValue(0, Value::Uint(random()));
    builder.CloseGranule();
  }
  return Must(builder.Finish());
}

/// Uniform, or Zipf: the r-th granule has 20 * values / r^0.8 of them.
std::vector<uint64_t> Counts(int64_t num_granules, int64_t values, bool skewed) {
  std::vector<uint64_t> counts(static_cast<size_t>(num_granules), static_cast<uint64_t>(values));
  if (!skewed) return counts;
  for (size_t r = 0; r < counts.size(); ++r) {
    counts[r] = 1 + static_cast<uint64_t>(20.0 * static_cast<double>(values) /
                                          std::pow(static_cast<double>(r + 1), 0.8));
  }
  std::shuffle(counts.begin(), counts.end(), std::mt19937_64(7));
  return counts;
}

const std::string& CachedIndex(int64_t num_granules, int64_t values, bool skewed) {
  static std::map<std::vector<int64_t>, std::string> indexes;
  if (indexes.size() > 1) indexes.clear();  // they are large
  std::string& index = indexes[{num_granules, values, skewed}];
  if (index.empty()) index = BuildIndex(Counts(num_granules, values, skewed));
  return index;
}

/// The same filters, one after the other.
SeparateFilters BuildSeparateFilters(int64_t num_granules, int64_t values) {
  const internal::FilterSizer sizer = Must(internal::FilterSizer::Create(kTargetFpr));
  SeparateFilters filters(static_cast<size_t>(num_granules),
                          sizer.BitsFor(static_cast<uint64_t>(values)), sizer.num_probes());
  std::mt19937_64 random(1);
  for (size_t g = 0; g < static_cast<size_t>(num_granules); ++g) {
    for (int64_t i = 0; i < values; ++i) filters.Add(g, Value::Uint(random()).Hash());
  }
  return filters;
}

void BM_SeparateEquality(benchmark::State& state) {
  const SeparateFilters filters = BuildSeparateFilters(state.range(0), state.range(1));
  std::mt19937_64 random(2);
  GranuleSet found = GranuleSet::None(static_cast<size_t>(state.range(0)));
  for (auto _ : state) {
    filters.FindContaining(random(), &found);
    benchmark::DoNotOptimize(found.words().data());
  }
}

template <bool skewed>
void BM_Equality(benchmark::State& state) {
  const std::string& bytes = CachedIndex(state.range(0), state.range(1), skewed);
  const GranuleIndex index = Must(GranuleIndex::Open(AsBytes(bytes)));
  std::mt19937_64 random(2);
  GranuleSet candidates = GranuleSet::None(0);
  for (auto _ : state) {
    candidates = GranuleSet::All(static_cast<size_t>(state.range(0)));
    index.column_index(0).KeepContaining(random(), &candidates);
    benchmark::DoNotOptimize(candidates.words().data());
  }
  state.counters["probe_bytes"] = static_cast<double>(index.column(0).probe_bytes);
  state.counters["size_classes"] = index.column(0).num_size_classes;
}

void BM_InList(benchmark::State& state) {
  const std::string& bytes = CachedIndex(state.range(0), state.range(1), false);
  const GranuleIndex index = Must(GranuleIndex::Open(AsBytes(bytes)));
  std::mt19937_64 random(2);
  std::vector<uint64_t> numbers(static_cast<size_t>(state.range(2)));
  for (auto _ : state) {
    for (uint64_t& number : numbers) number = random();
    std::sort(numbers.begin(), numbers.end());
    std::vector<Value> values;
    for (const uint64_t number : numbers) values.push_back(Value::Uint(number));
    GranuleSet candidates = GranuleSet::All(static_cast<size_t>(state.range(0)));
    index.column_index(0).KeepContainingAny(values, &candidates);
    benchmark::DoNotOptimize(candidates.words().data());
  }
}

void BM_Range(benchmark::State& state) {
  const std::string& bytes = CachedIndex(state.range(0), 8, false);
  const GranuleIndex index = Must(GranuleIndex::Open(AsBytes(bytes)));
  for (auto _ : state) {
    GranuleSet candidates = GranuleSet::All(static_cast<size_t>(state.range(0)));
    index.column_index(0).KeepOverlapping({Value::Uint(1'000), Value::Uint(uint64_t{1} << 40)},
                                          &candidates);
    benchmark::DoNotOptimize(candidates.words().data());
  }
}

void BM_Open(benchmark::State& state) {
  const std::string& bytes = CachedIndex(state.range(0), state.range(1), false);
  for (auto _ : state) {
    const GranuleIndex index = Must(GranuleIndex::Open(AsBytes(bytes)));
    benchmark::DoNotOptimize(index.num_granules());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(bytes.size()));
}

void BM_Build(benchmark::State& state) {
  const std::vector<uint64_t> counts = Counts(state.range(0), state.range(1), false);
  for (auto _ : state) benchmark::DoNotOptimize(BuildIndex(counts).size());
  state.SetItemsProcessed(state.iterations() * state.range(0) * state.range(1));
}

}  // namespace

// 8,192 values: as in earlier measurements; 128 and 1,024: default and large
// granules.
BENCHMARK(BM_SeparateEquality)
    ->Args({1'000, 8'192})
    ->Args({1'000, 1'024})
    ->Args({1'000, 128})
    ->Args({300'000, 1'024})
    ->Args({300'000, 128});
BENCHMARK(BM_Equality<false>)
    ->Args({1'000, 8'192})
    ->Args({1'000, 1'024})
    ->Args({1'000, 128})
    ->Args({300'000, 1'024})
    ->Args({300'000, 128});
BENCHMARK(BM_Equality<true>)->Args({1'000, 1'024})->Args({300'000, 16});
BENCHMARK(BM_InList)->Args({1'000, 1'024, 10})->Args({1'000, 1'024, 1'000});
BENCHMARK(BM_Range)->Arg(1'000)->Arg(300'000);
BENCHMARK(BM_Open)->Args({1'000, 1'024})->Args({100'000, 128});
BENCHMARK(BM_Build)->Args({1'000, 1'024})->Args({10'000, 128})->Unit(benchmark::kMillisecond);

BENCHMARK_MAIN();
