#include "bench/skip/costs.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/skip/database.h"
#include "bench/support/measure.h"
#include "blocksieve/granule_index.h"
#include "blocksieve/granule_index_builder.h"

namespace blocksieve::bench::skip {
namespace {

constexpr double kTargetFpr = 0.01;

template <class T>
T Must(Result<T> result) {
  if (!result.ok()) Fail("skip index: {}", result.status().message());
  return *std::move(result);
}

}  // namespace

IndexSizeResult MeasureIndexSize(const Dataset& dataset, size_t column, uint64_t granule_rows) {
  const Column& indexed = dataset.columns[column].column;
  GranuleIndexOptions options;
  options.granule_rows = granule_rows;
  options.granule_bytes = 0;
  GranuleColumnOptions column_options;
  column_options.name = indexed.ToText();
  column_options.type = indexed.type();
  column_options.target_fpr = kTargetFpr;
  column_options.with_bounds = indexed.tokeniser() == Tokeniser::kNone;  // as SkipIndexBuilder
  options.columns = {column_options};
  GranuleIndexBuilder builder = Must(GranuleIndexBuilder::Create(options));
  for (size_t row = 0; row < dataset.rows.size(); ++row) {
    builder.StartRow(dataset.rows.key(row), 0);
    indexed.ForEachIndexed(dataset.rows.value(row), [&](const Value& value) {
      builder.AddValue(0, value);
      return true;
    });
  }
  const std::string bytes = Must(builder.Finish());
  const GranuleIndex index = Must(GranuleIndex::Open(AsBytes(bytes)));
  if (index.column(0).filters != GranulePart::kPresent) {
    Fail("{}: no filters: {}", indexed.ToText(), GranulePartName(index.column(0).filters));
  }
  IndexSizeResult result;
  result.dataset = dataset.name;
  result.column = dataset.columns[column].description;
  result.granule_rows = granule_rows;
  result.target_fpr = kTargetFpr;
  result.distinct_values = index.column(0).num_distinct;
  result.granules = index.num_granules();
  result.bytes = index.index_bytes();
  result.filter_bytes = index.column(0).filter_bytes;
  result.bounds_bytes = index.column(0).bounds_bytes;
  result.key_bytes = index.key_bytes();
  return result;
}

WriteCostResult MeasureWriteCost(const Dataset& dataset, size_t column, unsigned rounds,
                                 uint64_t seed, const std::filesystem::path& db_dir,
                                 Progress& progress) {
  const std::vector<uint32_t> order = RandomOrder(dataset.rows.size(), seed);
  const std::filesystem::path path = db_dir / "db";
  WriteCostResult result;
  result.dataset = dataset.name;
  result.column = dataset.columns[column].description;
  const auto fill = [&](bool with_index) {
    std::optional<SkipIndexOptions> index;
    if (with_index) index.emplace().columns = {dataset.columns[column].column};
    {
      Database database(dataset, path, index, /*direct_reads=*/false);
      const Stopwatch stopwatch;
      database.Fill(order);
      (with_index ? result.seconds_with : result.seconds_without).push_back(stopwatch.Seconds());
      (with_index ? result.cpu_seconds_with : result.cpu_seconds_without)
          .push_back(stopwatch.CpuSeconds());
    }
    std::filesystem::remove_all(path);
  };
  for (unsigned round = 0; round < rounds; ++round) {
    progress.Show(fmt::format("{} rows, {}: filling with and without index, round {} of {}",
                              dataset.name, result.column, round + 1, rounds));
    fill(round % 2 == 0);
    fill(round % 2 != 0);
  }
  return result;
}

}  // namespace blocksieve::bench::skip
