// SPDX-License-Identifier: Apache-2.0
#include "lib/column/column_set.h"

#include "lib/column/definition.h"
#include "lib/column/values.h"

namespace blocksieve::internal {

ColumnSet::ColumnSet(std::span<const Column> columns) : columns_(columns.begin(), columns.end()) {
  for (size_t i = 0; i < columns_.size(); ++i) {
    const ColumnDefinition& definition = columns_[i].definition();
    has_tokens_.push_back(columns_[i].has_tokens());
    if (definition.source != ColumnSource::kJson) continue;
    members_.Add(i, definition.path, definition.type);
  }
}

void ColumnSet::ForEachCompared(std::string_view row, ColumnVisitor visit) {
  if (!members_.IsEmpty()) members_.Read(row, visit, &scratch_);
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].definition().source == ColumnSource::kJson) continue;
    internal::ForEachCompared(columns_[i], row,
                              [&](const Value& value) { return visit(i, value); });
  }
}

void ColumnSet::ForEachIndexed(std::string_view row, ColumnVisitor visit) {
  ForEachCompared(row, [&](size_t column, const Value& value) {
    if (has_tokens_[column] == 0) {
      visit(column, value);
    } else {
      ForEachToken(columns_[column], value,
                   [&](const Value& token) { return visit(column, token); });
    }
    return true;
  });
}

}  // namespace blocksieve::internal
