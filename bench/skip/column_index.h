#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/support/dataset.h"
#include "blocksieve/column.h"

namespace blocksieve::bench::skip {

/// Rows of one column, of which a granule index is built.
struct IndexedColumn {
  std::string name;  ///< For the tables: dataset and column.
  ValueType type = ValueType::kBytes;
  bool with_bounds = true;
  size_t num_rows = 0;
  std::function<std::string_view(size_t row)> key;
  /// Gives the visitor the values of a row; bytes stay valid.
  std::function<void(size_t row, const ValueVisitor& visit)> values;
  /// Values of one row that are queried together, as words and n-grams of a text are; 0: none.
  size_t values_together = 0;
};

/// A column of the dataset, which must outlive the result.
IndexedColumn ColumnOf(const Dataset& dataset, const Column& column, std::string_view description);

/// Numbers in `num_rows` rows: 1,000 values in random order, 30,000, and values that all differ but
/// for one in a hundred.
std::vector<IndexedColumn> SyntheticColumns(uint64_t num_rows, uint64_t seed);

/// The bytes of the column's index, in granules of this many rows. `with_postings`: filters take
/// the form that is smallest; else bit slices. Throws Failure.
std::string BuildColumnIndex(const IndexedColumn& column, uint64_t granule_rows, double target_fpr,
                             bool with_postings);

}  // namespace blocksieve::bench::skip
