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

namespace blocksieve::bench {

/// Which rows have which value in a column.
struct Query {
  std::string value;
  Predicate predicate;
  std::vector<uint32_t> rows;  ///< That match, ascending.
};

/// One column of a dataset, as queries ask for it.
struct QueriedColumn {
  Column column;
  std::string description;  ///< For the tables, at most 40 characters.

  /// Equal values stand together in the order of keys.
  bool is_clustered = false;
};

/// Rows with columns in their values, and what of them is written anew later.
struct Dataset {
  std::string name;  ///< One word.
  std::string description;
  Rows rows;
  std::vector<QueriedColumn> columns;

  /// A fifth of the keys, spread over all, with the values that they get later.
  Rows rewritten;

  /// Values by row number: as first written, or after rewriting.
  std::vector<std::string_view> Values(bool after_rewriting) const;

  std::vector<Column> Columns() const;
};

/// Key and value of an input's rows become the value, "key TAB value", since a skip index sees
/// values only. Columns: the value's first field, named `value_name`, clustered or not, and the
/// words of the key. Rewritten rows keep their values.
Dataset MakeRealDataset(const Input& input, std::string_view value_name, uint64_t seed);

/// The synthetic rows' second column has so many values; each occurs once in so many rows, which
/// are 1,000 granules of the default size.
inline constexpr uint64_t kScatteredValues = 128'000;

/// Rows of about 120 bytes with ascending keys. Column `run` has the same value in 1,000 rows on
/// end; column `scattered` has every one of kScatteredValues values once in as many rows, in random
/// order. Rewritten rows keep their `run` and get a random `scattered`.
Dataset MakeSyntheticDataset(uint64_t num_rows, uint64_t seed);

/// `count` different values that occur in the column of number `column`, each with the same chance
/// however often it occurs, with the rows that have them; all values if there are fewer.
std::vector<Query> DrawQueries(const Dataset& dataset, size_t column,
                               const std::vector<std::string_view>& values, size_t count,
                               uint64_t seed);

}  // namespace blocksieve::bench
