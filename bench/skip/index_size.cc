#include "bench/skip/index_size.h"

#include <string>
#include <utility>

#include "bench/support/failure.h"
#include "blocksieve/granule_index.h"
#include "blocksieve/granule_index_builder.h"

namespace blocksieve::bench::skip {
namespace {

constexpr double kTargetFpr = 0.01;

template <class T>
T Must(Result<T> result) {
  if (!result.ok()) Fail("granule index: {}", result.status().message());
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

}  // namespace blocksieve::bench::skip
