#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "blocksieve/column.h"
#include "lib/column/json_members.h"

namespace blocksieve::internal {

/// Columns that are read of the same rows. A row that is JSON is parsed once for all of them.
/// Not thread-safe.
class ColumnSet {
 public:
  explicit ColumnSet(std::span<const Column> columns);

  const std::vector<Column>& columns() const noexcept { return columns_; }

  /// Column::ForEachIndexed, Column::ForEachCompared, of all columns; visit() gets the number of
  /// the column, too, and is to want all values.
  void ForEachIndexed(std::string_view row, ColumnVisitor visit);
  void ForEachCompared(std::string_view row, ColumnVisitor visit);

 private:
  std::vector<Column> columns_;
  std::vector<uint8_t> has_tokens_;  // by column: its values are not indexed as they are
  JsonMembers members_;              // of those that are JSON
  JsonMembers::Scratch scratch_;
};

}  // namespace blocksieve::internal
