#include "bench/skip/analysis.h"

#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <utility>
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

// Values of IN lists, and the largest indexes that are asked for them.
constexpr size_t kInListValues[] = {10, 1'000};
constexpr uint64_t kMaxInListGranules = 10'000;

template <class T>
T Must(Result<T> result) {
  if (!result.ok()) Fail("skip index: {}", result.status().message());
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

std::vector<uint64_t> RandomNumbers(size_t count, std::mt19937_64& random) {
  std::vector<uint64_t> numbers(count);
  std::generate(numbers.begin(), numbers.end(), std::ref(random));
  return numbers;
}

// Nanoseconds of `analyse(draw())`, without those of `draw`.
template <class Draw, class Analyse>
double Time(const Draw& draw, const Analyse& analyse) {
  const auto drawn = draw();
  const Stopwatch stopwatch;
  analyse(drawn);
  return 1e9 * stopwatch.Seconds();
}

// Nanoseconds of one call of `analyse(hash)`.
template <class Analyse>
double TimeOne(std::mt19937_64& random, const Analyse& analyse) {
  const auto draw = [&] {
    std::vector<uint64_t> hashes = RandomNumbers(kValuesPerBatch, random);
    std::transform(hashes.begin(), hashes.end(), hashes.begin(), HashOf);
    return hashes;
  };
  const auto analyse_each = [&](const std::vector<uint64_t>& hashes) {
    for (const uint64_t hash : hashes) analyse(hash);
  };
  return Time(draw, analyse_each) / kValuesPerBatch;
}

// Of the first column. Throws Failure if both ways of asking differ.
InListResult MeasureInList(const GranuleIndex& index, size_t num_values, double seconds,
                           std::mt19937_64& random) {
  const size_t size = index.num_granules();
  const ColumnIndex& column = index.column_index(0);
  GranuleSet at_once = GranuleSet::None(size);
  GranuleSet one_by_one = GranuleSet::None(size);
  // Ascending, as a predicate keeps the values of IN.
  const auto draw = [&] {
    std::vector<uint64_t> numbers = RandomNumbers(num_values, random);
    std::sort(numbers.begin(), numbers.end());
    std::vector<Value> values;
    for (const uint64_t number : numbers) values.push_back(Value::Uint(number));
    return values;
  };
  const auto ask_all = [&](const std::vector<Value>& values) {
    at_once = GranuleSet::All(size);
    column.KeepContainingAny(values, &at_once);
  };
  const auto ask_each = [&](const std::vector<Value>& values) {
    one_by_one = GranuleSet::None(size);
    for (const Value& value : values) {
      GranuleSet found = GranuleSet::All(size);
      column.KeepContaining(value.Hash(), &found);
      one_by_one |= found;
    }
  };
  const std::vector<Value> values = draw();
  ask_all(values);
  ask_each(values);
  if (at_once != one_by_one) Fail("asking for {} values at once and one by one differ", num_values);
  auto turns = TakeTurns(
      seconds, {[&] { return Time(draw, ask_all); }, [&] { return Time(draw, ask_each); }});
  return {.values = num_values,
          .nanoseconds = std::move(turns[0]),
          .one_by_one_nanoseconds = std::move(turns[1])};
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
  AnalysisResult result;
  result.granules = num_granules;
  result.distinct_values = distinct_values;
  std::string bytes;
  for (unsigned turn = 0; turn < kBuildings; ++turn) {
    const Stopwatch building;
    bytes = BuildIndex(num_granules, distinct_values, seed);
    result.build_seconds.push_back(building.Seconds());
    const Stopwatch opening;
    Must(GranuleIndex::Open(AsBytes(bytes)));
    result.open_seconds.push_back(opening.Seconds());
  }
  const GranuleIndex index = Must(GranuleIndex::Open(AsBytes(bytes)));
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
  auto turns = TakeTurns(seconds, {[&] { return TimeOne(random, analyse); },
                                   [&] { return TimeOne(random, analyse_separate); }});
  result.nanoseconds = std::move(turns[0]);
  result.separate_nanoseconds = std::move(turns[1]);
  result.probe_bytes = index.column(0).probe_bytes;
  result.separate_bytes = separate.num_bytes();
  for (const size_t values : kInListValues) {
    if (num_granules > kMaxInListGranules) break;
    result.in_lists.push_back(MeasureInList(index, values, seconds, random));
  }
  return result;
}

uint64_t AnalysisMemory(uint64_t num_granules, uint64_t distinct_values) {
  // Building keeps 8 bytes per value, and each kind of filters takes less than 2.
  return num_granules * distinct_values * 12;
}

}  // namespace blocksieve::bench::skip
