// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <random>

#include "tests/core/skip/test_index.h"

namespace blocksieve::testing {
namespace {

TEST(SkipIndexBuilderTest, ClosesByBytesAndOnDemand) {
  SkipIndexOptions options = IndexOptions(100, {TypedColumn(ValueType::kUint)});
  options.granule_bytes = 1000;
  SkipIndexBuilder builder = MakeIndexBuilder(options);
  const std::vector<uint64_t> bytes = {999, 1, 5000, 10, 10, 10};
  for (size_t row = 0; row < bytes.size(); ++row) {
    builder.AddEmptyRow(RowKey(row), bytes[row]);
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

// With filters and without, with bounds and without.
TEST(SkipIndexBuilderTest, FindsEachValueAloneAndAmongOthers) {
  const std::vector<Column> columns = {TypedColumn(ValueType::kUint, 0, "both:"),
                                       TypedColumn(ValueType::kUint, 1, "filters:"),
                                       TypedColumn(ValueType::kUint, 2, "bounds:")};
  constexpr uint64_t kGranuleRows = 8;
  std::mt19937_64 random(5);
  std::map<uint64_t, std::set<size_t>> granules_of;  // by value
  const auto add_values = [&](uint64_t row, SkipIndexBuilder& builder) {
    for (uint64_t n = random() % (row % 64 == 0 ? 200 : 3); n > 0; --n) {
      // Clustered enough that bounds prune.
      const uint64_t value = row / 10 + random() % 5'000;
      granules_of[value].insert(row / kGranuleRows);
      for (size_t c = 0; c < columns.size(); ++c) builder.AddValue(c, Value::Uint(value));
    }
  };
  const TestIndex index = IndexOfRows(IndexOptions(kGranuleRows, columns), 20'000, add_values);
  const auto wanted = [](bool is) { return is ? PartState::kPresent : PartState::kNotWanted; };
  for (size_t c = 0; c < columns.size(); ++c) {
    EXPECT_EQ(index.info(c).filters, wanted(c != 2));
    EXPECT_EQ(index.info(c).bounds, wanted(c != 1));
  }
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
    for (size_t column = 0; column < columns.size(); ++column) {
      const GranuleSet any = index.ContainingAny(column, values);
      GranuleSet each = GranuleSet::None(index.num_granules());
      for (const Value& value : values) each |= index.ContainingAny(column, {&value, 1});
      EXPECT_TRUE((GranuleSet(each) &= any) == each) << size << " values, column " << column;
      if (size == 10) {
        EXPECT_LT(any.Count(), any.num_granules()) << column;
      }
    }
  }
}

TEST(SkipIndexBuilderTest, FinishReportsValuesOfAWrongType) {
  for (const size_t column : {0, 1}) {
    SkipIndexBuilder builder = MakeIndexBuilder(IndexOptions(4, {TypedColumn(ValueType::kInt)}));
    builder.AddEmptyRow("a", 1);
    builder.AddValue(column, column == 0 ? Value::Uint(1) : Value::Int(1));
    builder.AddEmptyRow("b", 1);
    EXPECT_EQ(builder.Finish().status().code(), StatusCode::kInvalidArgument);
  }
}

TEST(SkipIndexBuilderTest, DropsFiltersThatWouldPruneNothing) {
  const auto options =
      IndexOptions(50, {TypedColumn(ValueType::kUint, 0), TypedColumn(ValueType::kUint, 1)});
  const TestIndex index = IndexOfRows(options, 5'000, [](uint64_t row, auto& builder) {
    builder.AddValue(0, Value::Uint(row % 7));                      // all values everywhere
    builder.AddValue(1, Value::Uint(row == 2'500 ? 99 : row % 7));  // but for one
    if (row / 50 % 2 == 0) builder.AddValue(1, Value::Uint(55 + row / 500));
  });
  EXPECT_EQ(index.info(0).filters, PartState::kUseless);
  EXPECT_EQ(index.info(0).filter_bytes, 0);
  EXPECT_EQ(index.Containing(0, Value::Uint(3)).Count(), 100);
  EXPECT_EQ(index.Overlapping(0, {Value::Uint(7), Value::Uint(7)}).Count(), 0) << "bounds are kept";
  EXPECT_EQ(index.info(1).filters, PartState::kPresent);
  EXPECT_LT(index.Containing(1, Value::Uint(99)).Count(), 20);
}

TEST(SkipIndexBuilderTest, MeetsTheBudgetOfTheIndex) {
  uint64_t previous = ~uint64_t{0};
  for (const uint64_t budget : {100'000, 17'000, 4'000, 700, 100}) {
    SkipIndexOptions options = IndexOptions(
        128, {TypedColumn(ValueType::kUint, 0), TypedColumn(ValueType::kUint, 1)}, 0.001);
    options.max_index_bytes = budget;
    SkipIndexBuilder builder = MakeIndexBuilder(options);
    for (uint64_t row = 0; row < 10'000; ++row) {
      builder.AddEmptyRow(RowKey(row), 1);
      builder.AddValue(0, Value::Uint(row));
      builder.AddValue(1, Value::Uint(row * row));
    }
    const Result<FinishedSkipIndex> finished = builder.Finish();
    if (!finished.ok()) {
      EXPECT_EQ(finished.status().code(), StatusCode::kResourceExhausted);
      EXPECT_EQ(budget, 100);
      continue;
    }
    EXPECT_LE(finished->bytes.size(), budget);
    EXPECT_LT(finished->bytes.size(), previous);
    previous = finished->bytes.size();
    const TestIndex index(finished->bytes);
    EXPECT_EQ(index.info(0).filters == PartState::kPresent, budget == 100'000) << budget;
  }
}

SkipIndexBuilder BuilderOfManyValues(uint64_t max_index_bytes, uint64_t values_per_granule) {
  SkipIndexOptions options =
      IndexOptions(1, {TypedColumn(ValueType::kUint, 0), TypedColumn(ValueType::kUint, 1)}, 0.001);
  options.max_index_bytes = max_index_bytes;
  SkipIndexBuilder builder = MakeIndexBuilder(options);
  std::mt19937_64 random(1);
  for (uint64_t row = 0; row < 300'000 / values_per_granule; ++row) {
    builder.AddEmptyRow(RowKey(row), 1);
    builder.AddValue(0, Value::Uint(row / 10));
    for (uint64_t i = 0; i < values_per_granule; ++i) builder.AddValue(1, Value::Uint(random()));
  }
  return builder;
}

// Filters go when they outgrow the memory of building, in the middle of a granule if need be.
// Bounds, and the filters of other columns, stay.
TEST(SkipIndexBuilderTest, DropsFiltersThatOutgrowItsMemory) {
  for (const uint64_t values_per_granule : {300, 100'000}) {
    SkipIndexBuilder builder = BuilderOfManyValues(100'000, values_per_granule);
    const FinishedSkipIndex finished = Must(builder.Finish());
    EXPECT_EQ(finished.columns[1].filters, PartState::kOverMemory);
    EXPECT_EQ(finished.columns[1].bounds, PartState::kPresent);
    EXPECT_EQ(finished.columns[0].filters, PartState::kPresent);
    EXPECT_EQ(builder.needed_bytes(), 0u) << "not known";
    const TestIndex index(finished.bytes);
    EXPECT_EQ(index.Present(1).Count(), index.num_granules()) << "marks are complete";
    SkipIndexBuilder unlimited = BuilderOfManyValues(0, values_per_granule);
    EXPECT_EQ(Must(unlimited.Finish()).columns[1].filters, PartState::kPresent);
  }
}

}  // namespace
}  // namespace blocksieve::testing
