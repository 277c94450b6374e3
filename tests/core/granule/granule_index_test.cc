#include "lib/granule/granule_index.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/core/granule/granule_test_index.h"

namespace blocksieve::testing {
namespace {

TEST(GranuleIndex, ClosesByBytesAndOnDemand) {
  GranuleIndexOptions options = IndexOptions(100, {});
  options.granule_bytes = 1000;
  GranuleIndexBuilder builder = MakeIndexBuilder(options);
  const std::vector<uint64_t> bytes = {999, 1, 5000, 10, 10, 10};
  for (size_t row = 0; row < bytes.size(); ++row) {
    builder.StartRow(RowKey(row), bytes[row]);
    if (row == 3) {
      builder.CloseGranule();
      builder.CloseGranule();
    }
  }
  const TestIndex index = FinishIndex(&builder);
  ASSERT_EQ(index->num_granules(), 4);
  EXPECT_EQ(index->NumRows(0), 2);  // 1,000 bytes
  EXPECT_EQ(index->NumRows(1), 1);  // 5,000 bytes
  EXPECT_EQ(index->NumRows(2), 1);  // on demand
  EXPECT_EQ(index->NumRows(3), 2);
}

// With filters as postings and as bit slices, with bounds and without.
TEST(GranuleIndex, FindsEachValueAloneAndAmongOthers) {
  GranuleColumnOptions no_bounds = ColumnOf(ValueType::kUint, 0.001);
  no_bounds.with_bounds = false;
  GranuleColumnOptions no_filters = ColumnOf(ValueType::kUint);
  no_filters.with_filters = false;
  GranuleColumnOptions neither = no_bounds;
  neither.with_filters = false;
  const std::vector<GranuleColumnOptions> columns = {ColumnOf(ValueType::kUint), no_bounds,
                                                     no_filters, neither};
  constexpr uint64_t kGranuleRows = 8;
  std::mt19937_64 random(5);
  std::map<uint64_t, std::set<size_t>> granules_of;  // by value
  const auto add_values = [&](uint64_t row, GranuleIndexBuilder& builder) {
    for (uint64_t n = random() % (row % 64 == 0 ? 200 : 3); n > 0; --n) {
      // Clustered enough that bounds prune.
      const uint64_t value = row / 10 + random() % 5'000;
      granules_of[value].insert(row / kGranuleRows);
      for (size_t c = 0; c < columns.size(); ++c) builder.AddValue(c, Value::Uint(value));
    }
  };
  const TestIndex index = IndexOfRows(IndexOptions(kGranuleRows, columns), 20'000, add_values);
  for (size_t c = 0; c < columns.size(); ++c) {
    const auto wanted = [](bool is) { return is ? PartState::kPresent : PartState::kNotWanted; };
    EXPECT_EQ(index->column(c).filters, wanted(columns[c].with_filters));
    EXPECT_EQ(index->column(c).bounds, wanted(columns[c].with_bounds));
  }
  EXPECT_EQ(index->column(0).form, GranuleFilterForm::kBitSlices);
  EXPECT_EQ(index->column(1).form, GranuleFilterForm::kPostings);
  for (const auto& [number, granules] : granules_of) {
    if (number % 4 != 0) continue;
    const Value value = Value::Uint(number);
    for (size_t column = 0; column < columns.size(); ++column) {
      const GranuleSet may = index.Containing(column, value);
      const GranuleSet equal = index.Overlapping(column, {value, value});
      for (const size_t g : granules) ASSERT_TRUE(may.Has(g) && equal.Has(g)) << number;
    }
  }
  for (const size_t size : {0, 1, 2, 10, 300}) {
    std::set<uint64_t> numbers;
    while (numbers.size() < size) numbers.insert(random() % 8'000);
    std::vector<Value> values;
    for (const uint64_t number : numbers) values.push_back(Value::Uint(number));
    GranuleSet even = index.All();
    for (size_t g = 1; g < even.num_granules(); g += 2) even.Remove(g);
    for (size_t column = 0; column < columns.size(); ++column) {
      GranuleSet expected = even;
      index->column_index(column).ColumnIndex::PruneByAny(values, &expected);
      GranuleSet any = even;
      index->column_index(column).PruneByAny(values, &any);
      EXPECT_EQ(any, expected) << size << " values, column " << column;
    }
  }
}

TEST(GranuleIndexBuilder, FinishReportsValuesOfAWrongType) {
  for (const size_t column : {0, 1}) {
    GranuleIndexBuilder builder = MakeIndexBuilder(IndexOptions(4, {ColumnOf(ValueType::kInt)}));
    builder.StartRow("a", 1);
    builder.AddValue(column, column == 0 ? Value::Uint(1) : Value::Int(1));
    builder.StartRow("b", 1);
    EXPECT_EQ(builder.Finish().status().code(), StatusCode::kInvalidArgument);
  }
}

TEST(GranuleIndexBuilder, RefusesUnknownTypes) {
  const auto options = IndexOptions(4, {ColumnOf(static_cast<ValueType>(200))});
  EXPECT_EQ(GranuleIndexBuilder::Create(options).status().code(), StatusCode::kInvalidArgument);
}

TEST(GranuleIndexBuilder, DropsFiltersThatWouldPruneNothing) {
  const auto options = IndexOptions(50, {ColumnOf(ValueType::kUint), ColumnOf(ValueType::kUint)});
  const TestIndex index = IndexOfRows(options, 5'000, [](uint64_t row, auto& builder) {
    builder.AddValue(0, Value::Uint(row % 7));                      // all values everywhere
    builder.AddValue(1, Value::Uint(row == 2'500 ? 99 : row % 7));  // but for one
    if (row / 50 % 2 == 0) builder.AddValue(1, Value::Uint(55 + row / 500));
  });
  EXPECT_EQ(index->column(0).filters, PartState::kEverywhere);
  EXPECT_EQ(index->column(0).filter_bytes, 0);
  EXPECT_EQ(index.Containing(0, Value::Uint(3)).Count(), 100);
  EXPECT_EQ(index.Overlapping(0, {Value::Uint(7), Value::Uint(7)}).Count(), 0) << "bounds are kept";
  EXPECT_EQ(index->column(1).filters, PartState::kPresent);
  EXPECT_LT(index.Containing(1, Value::Uint(99)).Count(), 20);
}

TEST(GranuleIndexBuilder, MeetsTheBudgetOfAColumn) {
  struct Budget {
    uint64_t bytes;
    uint64_t rows;
    PartState filters;
  };
  for (const auto& [bytes, rows, filters] :
       {Budget{UINT64_MAX, 1'000, PartState::kPresent}, Budget{10'000, 5'000, PartState::kPresent},
        Budget{10'000, 20'000, PartState::kOverBudget}}) {
    GranuleColumnOptions limited = ColumnOf(ValueType::kUint);
    limited.max_filter_bytes = bytes;
    const TestIndex index =
        IndexOfRows(IndexOptions(128, {limited}), rows,
                    [](uint64_t row, auto& builder) { builder.AddValue(0, Value::Uint(row)); });
    EXPECT_LE(index->column(0).filter_bytes, bytes);
    EXPECT_EQ(index->column(0).filters, filters) << bytes << " for " << rows << " rows";
    EXPECT_EQ(index->column(0).bounds, PartState::kPresent);
    EXPECT_TRUE(index.Containing(0, Value::Uint(17)).Has(0));
  }
}

TEST(GranuleIndexBuilder, MeetsTheBudgetOfTheIndex) {
  uint64_t previous = ~uint64_t{0};
  for (const uint64_t budget : {100'000, 18'000, 5'000, 700, 100}) {
    GranuleIndexOptions options =
        IndexOptions(128, {ColumnOf(ValueType::kUint), ColumnOf(ValueType::kUint, 0.1)});
    for (GranuleColumnOptions& column : options.columns) column.with_postings = false;
    options.max_index_bytes = budget;
    GranuleIndexBuilder builder = MakeIndexBuilder(options);
    for (uint64_t row = 0; row < 10'000; ++row) {
      builder.StartRow(RowKey(row), 1);
      builder.AddValue(0, Value::Uint(row));
      builder.AddValue(1, Value::Uint(row * row));
    }
    const Result<std::string> bytes = builder.Finish();
    if (!bytes.ok()) {
      EXPECT_EQ(bytes.status().code(), StatusCode::kResourceExhausted);
      EXPECT_EQ(budget, 100);
      continue;
    }
    EXPECT_LE(bytes->size(), budget);
    EXPECT_LT(bytes->size(), previous);
    previous = bytes->size();
    const TestIndex index(*bytes);
    const PartState filters = index->column(0).filters;
    EXPECT_EQ(filters, budget == 100'000 ? PartState::kPresent : PartState::kOverBudget);
  }
}

TEST(GranuleIndexBuilder, ReportsItsMemory) {
  GranuleIndexBuilder builder = MakeIndexBuilder(IndexOptions(128, {ColumnOf(ValueType::kUint)}));
  const uint64_t empty = builder.MemoryBytes();
  constexpr uint64_t kRows = 100'000;
  for (uint64_t row = 0; row < kRows; ++row) {
    builder.StartRow(RowKey(row), 1);
    builder.AddValue(0, Value::Uint(row));
  }
  // A hash for each value, in a vector whose capacity may be twice its size.
  EXPECT_GE(builder.MemoryBytes() - empty, kRows * sizeof(uint64_t));
  EXPECT_LE(builder.MemoryBytes() - empty, kRows * 8 * sizeof(uint64_t));
}

}  // namespace
}  // namespace blocksieve::testing
