#include "bench/skip/column_index.h"

#include <fmt/format.h>

#include <memory>
#include <random>
#include <utility>

#include "blocksieve/granule_index_builder.h"

namespace blocksieve::bench::skip {

IndexedColumn ColumnOf(const Dataset& dataset, const Column& column, std::string_view description) {
  return {
      .name = fmt::format("{}, {}", dataset.name, description),
      .type = column.type(),
      .with_bounds = column.tokeniser() == Tokeniser::kNone,  // as SkipIndexBuilder
      .num_rows = dataset.rows.size(),
      .key = [&dataset](size_t row) { return dataset.rows.key(row); },
      .values =
          [&dataset, column](size_t row, const ValueVisitor& visit) {
            column.ForEachIndexed(dataset.rows.value(row), visit);
          },
      .values_together = 0,
  };
}

std::vector<IndexedColumn> SyntheticColumns(uint64_t num_rows, uint64_t seed) {
  using Random = std::mt19937_64;
  constexpr size_t kKeyBytes = 16;
  const auto keys = std::make_shared<std::string>();
  for (uint64_t row = 0; row < num_rows; ++row) *keys += fmt::format("key{:013}", 7 * row);
  std::vector<IndexedColumn> columns;
  const auto add = [&](const char* description, auto draw) {
    const auto numbers = std::make_shared<std::vector<uint64_t>>();
    Random random(seed);
    for (uint64_t row = 0; row < num_rows; ++row) numbers->push_back(draw(random, *numbers));
    columns.push_back(
        {.name = fmt::format("synthetic, {}", description),
         .type = ValueType::kUint,
         .num_rows = static_cast<size_t>(num_rows),
         .key =
             [=](size_t row) { return std::string_view(*keys).substr(row * kKeyBytes, kKeyBytes); },
         .values = [=](size_t row,
                       const ValueVisitor& visit) { visit(Value::Uint((*numbers)[row])); }});
  };
  add("1,000 values", [](Random& random, const auto&) { return random() % 1'000; });
  add("30,000 values", [](Random& random, const auto&) { return random() % 30'000; });
  add("unique but for 1 %", [](Random& random, const auto& before) {
    const uint64_t number = random();
    return before.empty() || random() % 100 != 0 ? number : before[random() % before.size()];
  });
  return columns;
}

std::string BuildColumnIndex(const IndexedColumn& column, uint64_t granule_rows, double target_fpr,
                             bool with_postings) {
  GranuleIndexOptions options;
  options.granule_rows = granule_rows;
  options.granule_bytes = 0;
  GranuleColumnOptions column_options;
  column_options.type = column.type;
  column_options.target_fpr = target_fpr;
  column_options.with_postings = with_postings;
  column_options.with_bounds = column.with_bounds;
  options.columns = {column_options};
  GranuleIndexBuilder builder = Must(GranuleIndexBuilder::Create(options), "skip index");
  for (size_t row = 0; row < column.num_rows; ++row) {
    builder.StartRow(column.key(row), 0);
    column.values(row, [&](const Value& value) {
      builder.AddValue(0, value);
      return true;
    });
  }
  return Must(builder.Finish(), "skip index");
}

}  // namespace blocksieve::bench::skip
