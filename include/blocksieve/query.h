#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "blocksieve/column.h"
#include "blocksieve/predicate.h"
#include "blocksieve/status.h"

namespace blocksieve {

/// An order of rows by a column: by the least value of a row, or by its greatest if it is
/// descending. Rows of equal values are in the order of their keys. Rows without a value are left
/// out.
struct ScanOrder {
  Column column;               ///< Not of words or n-grams, which have no order.
  bool is_descending = false;  ///< The greatest first.
};

/// A condition on rows, and which of those that match are wanted.
///
/// Text form, each part optional: `PREDICATE ORDER BY column [ASC | DESC] LIMIT n`. Columns are
/// written as in predicates. An order needs a limit. Words of it are no keywords elsewhere.
struct Query {
  Predicate predicate = Predicate::Constant(true);  ///< That rows must match.
  std::optional<ScanOrder> order;                   ///< None: that of keys.
  uint64_t limit = 0;                               ///< The most rows; 0: all.

  /// Reads the text form. Errors: as of Predicate::Parse.
  static Result<Query> Parse(std::string_view text, std::span<const Column> columns,
                             size_t* error_position = nullptr);
};

}  // namespace blocksieve
