#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <random>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bench/skip/experiment.h"
#include "bench/support/measure.h"
#include "blocksieve/skip_index.h"
#include "lib/column/values.h"
#include "lib/granule/granule_index.h"

namespace blocksieve::bench::skip {
namespace {

using Random = std::mt19937_64;

constexpr size_t kForms = 2;  // the chosen one, and bit slices
constexpr size_t kOccurringValues = 500;
constexpr size_t kAbsentValues = 2'000;

// The index of a column. With `with_postings`, filters have their smallest form, else bit slices.
std::string BuildColumnIndex(const Dataset& dataset, const Column& column, uint64_t granule_rows,
                             double target_fpr, bool with_postings) {
  GranuleColumnOptions column_options;
  column_options.type = column.type();
  column_options.target_fpr = target_fpr;
  column_options.with_postings = with_postings;
  column_options.with_bounds =
      internal::TokeniserOf(column) == Tokeniser::kNone;  // as SkipIndexBuilder
  GranuleIndexOptions options;
  options.granule_rows = granule_rows;
  options.granule_bytes = 0;
  options.max_index_bytes = 0;
  options.columns = {column_options};
  GranuleIndexBuilder builder = Must(GranuleIndexBuilder::Create(options), "skip index");
  for (size_t row = 0; row < dataset.rows.size(); ++row) {
    builder.StartRow(dataset.rows.key(row), 0);
    internal::ForEachIndexed(column, dataset.rows.value(row), [&](const Value& value) {
      builder.AddValue(0, value);
      return true;
    });
  }
  return Must(builder.Finish(), "skip index");
}

// Columns of numbers in random order: 1,000 values, 30,000 values, and 99 % unique values.
Dataset MakeNumbers(uint64_t num_rows, uint64_t seed) {
  Dataset dataset;
  dataset.name = "synthetic";
  dataset.columns = {
      {Must(Column::Parse("few=uint64le(0)"), "column"), "1,000 values"},
      {Must(Column::Parse("many=uint64le(8)"), "column"), "30,000 values"},
      {Must(Column::Parse("unique=uint64le(16)"), "column"), "99 % unique"},
  };
  Random few(seed), many(seed), unique(seed);
  std::vector<uint64_t> before;
  for (uint64_t row = 0; row < num_rows; ++row) {
    const uint64_t number = unique();
    const bool is_new = before.empty() || unique() % 100 != 0;
    before.push_back(is_new ? number : before[unique() % before.size()]);
    const uint64_t numbers[] = {few() % 1'000, many() % 30'000, before.back()};
    char bytes[sizeof numbers];
    std::memcpy(bytes, numbers, sizeof bytes);
    dataset.rows.Add(fmt::format("key{:013}", 7 * row), {bytes, sizeof bytes});
  }
  dataset.rows.Seal();
  return dataset;
}

// The granules of each value of a column, by its hash.
using GranulesOfValues = std::unordered_map<uint64_t, std::vector<size_t>>;

GranulesOfValues FindGranules(const Dataset& dataset, const Column& column) {
  GranulesOfValues found;
  for (size_t row = 0; row < dataset.rows.size(); ++row) {
    const size_t granule = row / kDefaultGranuleRows;
    internal::ForEachIndexed(column, dataset.rows.value(row), [&](const Value& value) {
      std::vector<size_t>& granules = found[value.Hash()];
      if (granules.empty() || granules.back() != granule) granules.push_back(granule);
      return true;
    });
  }
  return found;
}

// False-positive granules per value.
struct Wasted {
  double of_occurring = 0;
  double of_absent = 0;
};

Wasted CountWasted(const GranuleIndex& index, const GranulesOfValues& values, uint64_t seed) {
  Random random(seed);
  const GranuleSet all = GranuleSet::All(static_cast<size_t>(index.num_granules()));
  const auto granules_of = [&](uint64_t hash) {
    GranuleSet set = all;
    index.column_index(0).PruneByHash(hash, &set);
    return set;
  };
  GranulesOfValues occurring;
  std::sample(values.begin(), values.end(), std::inserter(occurring, occurring.end()),
              kOccurringValues, random);
  uint64_t of_occurring = 0, of_absent = 0;
  for (const auto& [hash, granules] : occurring) {
    const GranuleSet set = granules_of(hash);
    for (const size_t granule : granules) {
      if (!set.Has(granule)) Fail("a value that occurs was not found");
    }
    of_occurring += set.Count() - granules.size();
  }
  for (size_t i = 0; i < kAbsentValues; ++i) of_absent += granules_of(random()).Count();
  return {static_cast<double>(of_occurring) / static_cast<double>(occurring.size()),
          static_cast<double>(of_absent) / static_cast<double>(kAbsentValues)};
}

void MeasureForm(const Dataset& dataset, const QueriedColumn& column, unsigned rounds, Job& job) {
  const std::string name = NameOf(dataset, column);
  std::string bytes[kForms];
  std::vector<double> build[kForms];  // processor time of the whole index, including its values
  InTurns(rounds, kForms, [&](size_t form, unsigned round) {
    job.progress.Show(fmt::format("forms of {}: round {}", name, round));
    const Stopwatch stopwatch;
    bytes[form] = BuildColumnIndex(dataset, column.column, kDefaultGranuleRows,
                                   SkipIndexBuilderOptions{}.target_fpr, form == 0);
    build[form].push_back(stopwatch.CpuSeconds());
  });
  const GranuleIndex chosen = Must(GranuleIndex::Open(AsBytes(bytes[0])), "skip index");
  const GranuleIndex slices = Must(GranuleIndex::Open(AsBytes(bytes[1])), "skip index");
  const GranulesOfValues values = FindGranules(dataset, column.column);
  const Wasted mine = CountWasted(chosen, values, job.options.seed);
  const Wasted theirs = CountWasted(slices, values, job.options.seed);
  const auto pairs = static_cast<double>(chosen.column(0).num_distinct);
  const auto filter_bytes = static_cast<double>(chosen.column(0).filter_bytes);
  const auto slices_bytes = static_cast<double>(slices.column(0).filter_bytes);
  job.results.Of("filters", {{"column", name}, {"form", GranuleFiltersName(chosen.column(0))}})
      .Add("granules", "count", static_cast<double>(chosen.num_granules()))
      .Add("granules of a value", "", pairs / static_cast<double>(values.size()))
      .Add("bits: index", "", 8 * static_cast<double>(chosen.index_bytes()) / pairs)
      .Add("bits: filters", "", 8 * filter_bytes / pairs)
      .Add("bits: slices", "", 8 * slices_bytes / pairs)
      .Add("relative to bit slices: size", "x", filter_bytes / slices_bytes)
      .Add("relative to bit slices: build time", "x", PairedRatio(build[0], build[1]))
      .Add("false positives, occurring values: form", "", mine.of_occurring)
      .Add("false positives, occurring values: slices", "", theirs.of_occurring)
      .Add("false positives, absent values: form", "", mine.of_absent)
      .Add("false positives, absent values: slices", "", theirs.of_absent);
}

void MeasureIndexSize(const Dataset& dataset, const QueriedColumn& column, uint64_t granule_rows,
                      Results& results) {
  const std::string bytes = BuildColumnIndex(dataset, column.column, granule_rows,
                                             /*target_fpr=*/0.01, /*with_postings=*/true);
  const GranuleIndex index = Must(GranuleIndex::Open(AsBytes(bytes)), "skip index");
  if (index.column(0).filters != PartState::kPresent) {
    Fail("{}: no filters: {}", column.description, PartStateName(index.column(0).filters));
  }
  const auto values = static_cast<double>(index.column(0).num_distinct);
  const auto bits = [&](uint64_t part) { return 8 * static_cast<double>(part) / values; };
  results.Of("index", {{"column", NameOf(dataset, column)}, {"granule rows", granule_rows}})
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
      MeasureIndexSize(dataset, each, granule_rows, results);
    }
  }
}

void MeasureForms(const Dataset& dataset, const Effort& effort, Job& job) {
  const Dataset numbers = MakeNumbers(effort.synthetic_rows, job.options.seed);
  std::vector<std::pair<const Dataset*, QueriedColumn>> columns;
  for (const QueriedColumn& each : dataset.columns) columns.emplace_back(&dataset, each);
  columns.emplace_back(&dataset, QueriedColumn{Must(Column::Parse("ngrams=ngrams(4):1"), "column"),
                                               "4-grams of the key"});
  for (const QueriedColumn& each : numbers.columns) columns.emplace_back(&numbers, each);
  for (const auto& [of, column] : columns) MeasureForm(*of, column, effort.form_rounds, job);
}

}  // namespace blocksieve::bench::skip
