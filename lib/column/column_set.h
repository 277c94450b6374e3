#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "blocksieve/column.h"
#include "lib/column/json_members.h"

namespace blocksieve::internal {

/// Columns extracted from the same rows. A JSON row is parsed once for all. Not thread-safe.
class ColumnSet {
 public:
  explicit ColumnSet(std::span<const Column> columns);

  const std::vector<Column>& columns() const noexcept { return columns_; }

  /// ForEachIndexed for all columns. `visit` also gets the column's number. If it returns false,
  /// the other tokens of the value are left out.
  void ForEachIndexed(std::string_view row, ColumnVisitor visit);

  /// ForEachCompared for all columns. REQUIRES: `visit` returns true
  void ForEachCompared(std::string_view row, ColumnVisitor visit);

 private:
  std::vector<Column> columns_;
  std::vector<uint8_t> has_tokens_;  // by column
  JsonMembers members_;              // of the JSON columns
  JsonMembers::Scratch scratch_;
};

}  // namespace blocksieve::internal
