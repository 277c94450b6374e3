#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/skip/results.h"
#include "bench/support/dataset.h"
#include "bench/support/terminal.h"
#include "blocksieve/column.h"
#include "blocksieve/granule_index_builder.h"

// The form that a column's filters take by themselves, against bit slices, in one run: how large
// they are, how long they take to build and to ask, and what they give in vain.

namespace blocksieve::bench::skip {

/// Rows of one column.
struct FormColumn {
  std::string dataset;
  std::string column;
  ValueType type = ValueType::kBytes;
  bool with_bounds = true;
  size_t num_rows = 0;
  std::function<std::string_view(size_t row)> key;
  /// Gives the visitor the values of a row; bytes stay valid.
  std::function<void(size_t row, const ValueVisitor& visit)> values;
  /// Values of one row that are asked for together, as words and n-grams of a text are; 0: none.
  size_t values_together = 0;
};

/// The dataset's columns, and the 4-grams of its first one that has words.
std::vector<FormColumn> FormColumnsOf(const Dataset& dataset);

/// Numbers: 1,000 values in random order, and values that all differ but for one in a hundred.
std::vector<FormColumn> SyntheticFormColumns(uint64_t num_rows, uint64_t seed);

/// Builds both by turns, `rounds` times, and asks both by turns, for `seconds` each kind of
/// question. Granules of the default rows, the default target FPR. Throws Failure if a value that
/// occurs is not found.
FormResult MeasureForm(const FormColumn& column, unsigned rounds, double seconds, uint64_t seed,
                       Progress& progress);

}  // namespace blocksieve::bench::skip
