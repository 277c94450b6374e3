#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bench/support/inputs.h"
#include "blocksieve/column.h"
#include "blocksieve/predicate.h"

namespace blocksieve::bench::skip {

/// A scan for one value of a column.
struct Query {
  std::string value;
  Predicate predicate;
  std::vector<uint32_t> rows;  ///< The matching rows, ascending.
};

/// Of MakeDataset: few files have one value of it.
inline constexpr size_t kMinuteColumn = 1;

/// One column of a dataset, for queries.
struct QueriedColumn {
  Column column;
  std::string description;  ///< For the tables, at most 40 characters.

  /// Equal values are adjacent in key order.
  bool is_clustered = false;
};

/// Rows with columns in their values.
struct Dataset {
  std::string description;
  Rows rows;
  std::vector<QueriedColumn> columns;

  /// A random fifth of them, which are written again.
  Rows rewritten;

  std::vector<Column> Columns() const;
};

/// Rows of an input. Each value becomes "key TAB minute TAB value", as a skip index sees values
/// only. Columns: the value's first field, named `value_name`, clustered or not; the minute, which
/// grows with the key as time does in keys that begin with it; and the words of the key.
Dataset MakeDataset(const Input& input, std::string_view value_name, uint64_t seed);

/// `count` distinct values of the column with number `column`, drawn uniformly, however often they
/// occur, with the rows that have them; all values if there are fewer.
std::vector<Query> DrawQueries(const Dataset& dataset, size_t column, size_t count, uint64_t seed);

}  // namespace blocksieve::bench::skip
