#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bench/support/inputs.h"
#include "bench/support/rows.h"
#include "blocksieve/column.h"
#include "blocksieve/predicate.h"

namespace blocksieve::bench::skip {

/// A scan for one value of a column.
struct Query {
  std::string value;
  Predicate predicate;
  std::vector<uint32_t> rows;  ///< The matching rows, ascending.
};

/// One column of a dataset, for queries.
struct QueriedColumn {
  Column column;
  std::string description;  ///< For the tables, at most 40 characters.

  /// Equal values are adjacent in key order.
  bool is_clustered = false;
};

/// Rows with columns in their values, and the rows that are rewritten later.
struct Dataset {
  std::string name;  ///< One word.
  std::string description;
  Rows rows;
  std::vector<QueriedColumn> columns;

  /// A random fifth of the keys, with their later values.
  Rows rewritten;

  /// Values by row number: as first written, or after rewriting.
  std::vector<std::string_view> Values(bool after_rewriting) const;

  std::vector<Column> Columns() const;
};

/// Rows of an input. Each value becomes "key TAB value", as a skip index sees values only. Columns:
/// the value's first field, named `value_name`, clustered or not, and the words of the key.
/// Rewritten rows keep their values.
Dataset MakeRealDataset(const Input& input, std::string_view value_name, uint64_t seed);

/// Distinct values of the synthetic rows' column `scattered`. Each occurs once in this many rows,
/// which are 1,000 granules of the default size.
inline constexpr uint64_t kScatteredValues = 128'000;

/// Rows of about 120 bytes with ascending keys. Column `run` has one value for each 1,000
/// consecutive rows; column `scattered` has each of kScatteredValues values once in as many rows,
/// in random order. Rewritten rows keep their `run` and get a random `scattered`.
Dataset MakeSyntheticDataset(uint64_t num_rows, uint64_t seed);

/// `count` distinct values of the column with number `column`, drawn uniformly, however often they
/// occur, with the rows that have them; all values if there are fewer.
std::vector<Query> DrawQueries(const Dataset& dataset, size_t column,
                               const std::vector<std::string_view>& values, size_t count,
                               uint64_t seed);

}  // namespace blocksieve::bench::skip
