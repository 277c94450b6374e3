#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "blocksieve/column.h"
#include "blocksieve/predicate.h"
#include "lib/column/values.h"
#include "tests/support/must.h"

namespace blocksieve::testing {

inline Column MakeColumn(std::string_view definition, char delimiter = '\t') {
  return Must(Column::Parse(definition, delimiter));
}

inline std::vector<Column> MakeColumns(std::initializer_list<std::string_view> definitions) {
  std::vector<Column> columns;
  for (const std::string_view definition : definitions) columns.push_back(MakeColumn(definition));
  return columns;
}

inline Predicate MakePredicate(std::string_view text, std::span<const Column> columns) {
  return Must(Predicate::Parse(text, columns));
}

using Texts = std::vector<std::string>;

/// The parts of `list` between " | ".
inline Texts Listed(std::string_view list) {
  constexpr std::string_view kSeparator = " | ";
  Texts parts;
  for (size_t end = 0; end != list.npos; list.remove_prefix(std::min(list.size(), end + 3))) {
    end = list.find(kSeparator);
    parts.emplace_back(list.substr(0, end));
    if (end == list.npos) break;
  }
  return parts;
}

/// Expects that `row` matches all listed conditions or, if not `expected`, none.
inline void ExpectEach(bool expected, std::span<const Column> columns, std::string_view row,
                       std::string_view conditions) {
  for (const std::string& condition : Listed(conditions)) {
    EXPECT_EQ(MakePredicate(condition, columns).Matches(row), expected) << row << ": " << condition;
  }
}

inline const Texts kMissing{"missing"};

/// The values of a row as text, or kMissing.
inline Texts Indexed(const Column& column, const Row& row) {
  Texts values;
  const bool has_column = internal::ForEachIndexed(column, row, [&](const Value& value) {
    EXPECT_EQ(value.type(), column.type());
    values.push_back(value.ToText());
    return true;
  });
  if (!has_column) {
    EXPECT_TRUE(values.empty());
    values = kMissing;
  }
  return values;
}

inline Texts Indexed(std::string_view definition, const Row& row) {
  return Indexed(MakeColumn(definition), row);
}

}  // namespace blocksieve::testing
