#include "lib/column/column_set.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "blocksieve/column.h"
#include "lib/column/values.h"

// Columns that are read together have the same values as each alone.

namespace blocksieve::testing {
namespace {

using Values = std::vector<std::vector<std::string>>;  // by column

std::vector<Column> AllColumns() {
  const char* const kDefinitions[] = {
      "root=json:",        "a=json:/a",          "ab=int:json:/a/b", "abc=float:json:/a/b/c",
      "a0=uint:json:/a/0", "a1=json:/a/1",       "a10=json:/a/1/0",  "ab_too=bytes:json:/a/b",
      "t=json:/t",         "t0=json:/t/0",       "w=words:json:/t",  "g=ngrams(3):json:/a/b",
      "n=int:json:/n",     "u=uint:json:/n",     "f=float:json:/n",  "s=bytes:json:/n",
      "empty=json:/",      "leading=json:/t/01", "field=field:2",    "v=value",
  };
  std::vector<Column> columns;
  for (const char* const definition : kDefinitions) {
    Result<Column> column = Column::Parse(definition);
    EXPECT_TRUE(column.ok()) << column.status().message();
    columns.push_back(*std::move(column));
  }
  return columns;
}

Values Together(internal::ColumnSet* set, const std::string& row) {
  Values values(set->columns().size());
  set->ForEachIndexed(row, [&](size_t column, const Value& value) {
    values[column].push_back(value.ToText());
    return true;
  });
  return values;
}

Values OneByOne(const std::vector<Column>& columns, const std::string& row) {
  Values values;
  for (const Column& column : columns) {
    auto& of_column = values.emplace_back();
    internal::ForEachIndexed(column, row, [&](const Value& value) {
      of_column.push_back(value.ToText());
      return true;
    });
  }
  return values;
}

// JSON with the names of the columns and other names.
std::string Document(std::mt19937_64* random, int depth = 0) {
  const auto pick = [&](const std::vector<std::string>& from) {
    return from[(*random)() % from.size()];
  };
  const size_t kind = (*random)() % (depth < 4 ? 8 : 3);
  if (kind < 3) {
    return pick({"1", "-1", "0", "-0", "2.5", "3.0", "1e3", "18446744073709551615",
                 "-9223372036854775808", "true", "false", "null", "\"\"", "\"text\"", "\"7\"",
                 "\"nan\"", "1e400", "tru", "\"open"});
  }
  const bool is_array = kind == 3;
  std::string text(1, is_array ? '[' : '{');
  const size_t size = (*random)() % 4;
  for (size_t i = 0; i < size; ++i) {
    if (i != 0) text += ',';
    if (!is_array) text += "\"" + pick({"a", "b", "c", "t", "n", "x", "", "0", "1"}) + "\":";
    text += Document(random, depth + 1);
  }
  return text + (is_array ? "]" : "}");
}

TEST(ColumnSet, AgreesWithItsColumns) {
  const std::vector<Column> columns = AllColumns();
  internal::ColumnSet set(columns);
  std::mt19937_64 random(1);
  size_t with_values = 0;
  for (int i = 0; i < 40'000; ++i) {
    const std::string row = Document(&random);
    const Values values = Together(&set, row);
    ASSERT_EQ(values, OneByOne(columns, row)) << row;
    for (const auto& of_column : values) with_values += !of_column.empty();
  }
  EXPECT_GT(with_values, 40'000u);
}

}  // namespace
}  // namespace blocksieve::testing
