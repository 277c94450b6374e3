// SPDX-License-Identifier: Apache-2.0
#include "bench/skip/dataset.h"

#include <fmt/format.h>

#include <random>
#include <set>
#include <unordered_map>
#include <utility>

#include "bench/support/terminal.h"
#include "lib/column/values.h"

namespace blocksieve::bench::skip {
namespace {

constexpr size_t kRewrittenOneIn = 5;
constexpr size_t kRowsOfMinute = 100;

}  // namespace

std::vector<Column> Dataset::Columns() const {
  std::vector<Column> all;
  for (const QueriedColumn& each : columns) all.push_back(each.column);
  return all;
}

Dataset MakeDataset(const Input& input, std::string_view value_name, uint64_t seed) {
  Dataset dataset;
  dataset.description = input.description;
  for (size_t row = 0; row < input.rows.size(); ++row) {
    dataset.rows.Add(input.rows.key(row), fmt::format("{}\tm{}\t{}", input.rows.key(row),
                                                      row / kRowsOfMinute, input.rows.value(row)));
  }
  dataset.rows.Seal();
  dataset.columns = {
      {Must(Column::Parse(fmt::format("{}=field:3", value_name)), "column"),
       fmt::format("{} = v", value_name), true},
      {Must(Column::Parse("minute=field:2"), "column"), "minute = v, in key order", true},
      {Must(Column::Parse("words=words:1"), "column"), "words of the key HAS v", false},
  };
  std::vector<uint32_t> rewritten = RandomOrder(dataset.rows.size(), seed);
  rewritten.resize(rewritten.size() / kRewrittenOneIn);
  for (const uint32_t row : rewritten) {
    dataset.rewritten.Add(dataset.rows.key(row), dataset.rows.value(row));
  }
  dataset.rewritten.Seal();
  return dataset;
}

std::vector<Query> DrawQueries(const Dataset& dataset, size_t column, size_t count, uint64_t seed) {
  const Column& queried = dataset.columns[column].column;
  std::set<std::string, std::less<>> distinct;  // sorted, so that the seed alone decides
  for (uint32_t row = 0; row < dataset.rows.size(); ++row) {
    internal::ForEachIndexed(queried, dataset.rows.value(row), [&](const Value& each) {
      if (!distinct.contains(each.bytes())) distinct.emplace(each.bytes());
      return true;
    });
  }
  std::vector<std::string> drawn;
  std::sample(distinct.begin(), distinct.end(), std::back_inserter(drawn), count,
              std::mt19937_64(seed));
  std::vector<Query> queries;
  std::unordered_map<std::string_view, size_t> positions;
  for (std::string& value : drawn) {
    Predicate predicate =
        Must(Predicate::Compare(queried, Comparison::kHas, Value::Bytes(value)), "predicate");
    queries.push_back({std::move(value), std::move(predicate), {}});
  }
  for (size_t i = 0; i < queries.size(); ++i) positions[queries[i].value] = i;
  for (uint32_t row = 0; row < dataset.rows.size(); ++row) {
    internal::ForEachIndexed(queried, dataset.rows.value(row), [&](const Value& each) {
      const auto found = positions.find(each.bytes());
      if (found == positions.end()) return true;
      std::vector<uint32_t>& rows = queries[found->second].rows;
      if (rows.empty() || rows.back() != row) rows.push_back(row);
      return true;
    });
  }
  return queries;
}

}  // namespace blocksieve::bench::skip
