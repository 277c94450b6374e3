#include "lib/granule/granule_index.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/core/granule/granule_test_index.h"

namespace blocksieve::testing {
namespace {

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

TEST(GranuleIndexBuilder, OmitsUnwantedParts) {
  GranuleColumnOptions no_filters = ColumnOf(ValueType::kInt);
  no_filters.with_filters = false;
  no_filters.name = std::string("definition \0 of it", 18);
  GranuleColumnOptions no_bounds = ColumnOf(ValueType::kInt);
  no_bounds.with_bounds = false;
  const TestIndex index =
      IndexOfRows(IndexOptions(2, {no_filters, no_bounds}), 100, [](uint64_t row, auto& builder) {
        for (const size_t c : {0, 1}) builder.AddValue(c, Value::Int(static_cast<int64_t>(row)));
      });
  EXPECT_EQ(index->column(0).name, no_filters.name);
  EXPECT_EQ(index->column(0).filters, PartState::kNotWanted);
  EXPECT_EQ(index->column(1).bounds, PartState::kNotWanted);
  const ValueRange high{Value::Int(90), std::nullopt};
  EXPECT_EQ(index.Containing(0, Value::Int(5)).Count(), 50);
  EXPECT_EQ(index.Overlapping(0, high).Count(), 5);
  EXPECT_LT(index.Containing(1, Value::Int(5)).Count(), 10);
  EXPECT_EQ(index.Overlapping(1, high).Count(), 50);
  EXPECT_EQ(index.Differing(1, Value::Int(5)).Count(), 50);
}

}  // namespace
}  // namespace blocksieve::testing
