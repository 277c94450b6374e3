#include "bench/skip/dataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <unordered_map>
#include <utility>

#include "bench/support/terminal.h"
#include "lib/column/values.h"

namespace blocksieve::bench::skip {
namespace {

using Random = std::mt19937_64;

constexpr size_t kRewrittenOneIn = 5;
constexpr uint64_t kRowsPerRun = 1'000;
constexpr size_t kSyntheticRowBytes = 120;

// Sorted row numbers, drawn uniformly.
std::vector<uint32_t> DrawRewrittenRows(size_t num_rows, Random& random) {
  std::vector<uint32_t> rows(num_rows);
  std::iota(rows.begin(), rows.end(), 0U);
  std::shuffle(rows.begin(), rows.end(), random);
  rows.resize(num_rows / kRewrittenOneIn);
  std::sort(rows.begin(), rows.end());
  return rows;
}

// Not in the order of their numbers: min/max bounds must not rule out more than filters by chance.
std::string RunName(uint64_t row) {
  return fmt::format("run{:08x}", static_cast<uint32_t>((row / kRowsPerRun + 1) * 0x9e3779b1));
}

std::string SyntheticValue(uint64_t row, uint64_t scattered, size_t key_bytes) {
  std::string value = fmt::format("{}\ts{:06}\t", RunName(row), scattered);
  // Padding, which nothing reads, to a realistic row length.
  value.resize(std::max(value.size(), kSyntheticRowBytes - key_bytes), '.');
  return value;
}

}  // namespace

std::vector<std::string_view> Dataset::Values(bool after_rewriting) const {
  std::vector<std::string_view> values(rows.size());
  size_t next = 0;
  for (size_t row = 0; row < rows.size(); ++row) {
    values[row] = rows.value(row);
    if (next < rewritten.size() && rewritten.key(next) == rows.key(row)) {
      if (after_rewriting) values[row] = rewritten.value(next);
      ++next;
    }
  }
  return values;
}

std::vector<Column> Dataset::Columns() const {
  std::vector<Column> all;
  for (const QueriedColumn& each : columns) all.push_back(each.column);
  return all;
}

Dataset MakeRealDataset(const Input& input, std::string_view value_name, uint64_t seed) {
  Dataset dataset;
  dataset.name = "real";
  dataset.description = input.description;
  for (size_t row = 0; row < input.rows.size(); ++row) {
    dataset.rows.Add(input.rows.key(row),
                     fmt::format("{}\t{}", input.rows.key(row), input.rows.value(row)));
  }
  dataset.rows.Seal();
  dataset.columns = {
      {Must(Column::Parse(fmt::format("{}=field:2", value_name)), "column"),
       fmt::format("{} = v", value_name), true},
      {Must(Column::Parse("words=words:1"), "column"), "words of the key HAS v", false},
  };
  Random random(seed);
  for (const uint32_t row : DrawRewrittenRows(dataset.rows.size(), random)) {
    dataset.rewritten.Add(dataset.rows.key(row), dataset.rows.value(row));
  }
  dataset.rewritten.Seal();
  return dataset;
}

Dataset MakeSyntheticDataset(uint64_t num_rows, uint64_t seed) {
  Dataset dataset;
  dataset.name = "synthetic";
  dataset.description = fmt::format(
      "{} rows of {} bytes in key order; run: one value for each {} consecutive rows; scattered: "
      "{} values in random order, each once in as many rows; seed {}.",
      num_rows, kSyntheticRowBytes, kRowsPerRun, kScatteredValues, seed);
  Random random(seed);
  std::vector<uint32_t> scattered(kScatteredValues);
  std::iota(scattered.begin(), scattered.end(), 0U);
  // With gaps, so that there are absent keys to look up.
  const auto key_of = [](uint64_t row) { return fmt::format("key{:013}", 7 * row); };
  for (uint64_t row = 0; row < num_rows; ++row) {
    if (row % kScatteredValues == 0) std::shuffle(scattered.begin(), scattered.end(), random);
    if (row % 65'536 == 0) CheckInterrupt();
    const std::string key = key_of(row);
    dataset.rows.Add(key, SyntheticValue(row, scattered[row % kScatteredValues], key.size()));
  }
  dataset.rows.Seal();
  dataset.columns = {
      {Must(Column::Parse("run=field:1"), "column"), "run = v", true},
      {Must(Column::Parse("scattered=field:2"), "column"), "scattered = v", false},
  };
  for (const uint32_t row : DrawRewrittenRows(dataset.rows.size(), random)) {
    const std::string key = key_of(row);
    dataset.rewritten.Add(key, SyntheticValue(row, random() % kScatteredValues, key.size()));
  }
  dataset.rewritten.Seal();
  return dataset;
}

std::vector<Query> DrawQueries(const Dataset& dataset, size_t column,
                               const std::vector<std::string_view>& values, size_t count,
                               uint64_t seed) {
  const Column& queried = dataset.columns[column].column;
  std::set<std::string, std::less<>> distinct;  // sorted, so that the seed alone decides
  for (const std::string_view value : values) {
    internal::ForEachIndexed(queried, value, [&](const Value& each) {
      if (!distinct.contains(each.bytes())) distinct.emplace(each.bytes());
      return true;
    });
  }
  std::vector<std::string> drawn;
  std::sample(distinct.begin(), distinct.end(), std::back_inserter(drawn), count, Random(seed));
  std::vector<Query> queries;
  std::unordered_map<std::string_view, size_t> positions;
  for (std::string& value : drawn) {
    Predicate predicate = Must(Predicate::Has(queried, Value::Bytes(value)), "predicate");
    queries.push_back({std::move(value), std::move(predicate), {}});
  }
  for (size_t i = 0; i < queries.size(); ++i) positions[queries[i].value] = i;
  for (uint32_t row = 0; row < values.size(); ++row) {
    internal::ForEachIndexed(queried, values[row], [&](const Value& each) {
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
