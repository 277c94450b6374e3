#pragma once  // SPDX-License-Identifier: Apache-2.0

#include "bench/support/inputs.h"
#include "blocksieve/column.h"
#include "blocksieve/predicate.h"
#include "blocksieve/skip_index.h"

namespace blocksieve::bench::skip {

/// A scan for one value of a column.
struct Query {
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

/// Amount of measuring. The defaults take some minutes.
struct Effort {
  uint64_t max_input_bytes = uint64_t{2} << 30;
  size_t queries = 100;      ///< Scans of each column, each for one value.
  size_t write_columns = 2;  ///< The first ones.
  unsigned write_rounds = 9;
  uint64_t num_series = 10'000;  ///< Of a thousand times each, in keys.
};

/// Fills a database and scans it by each column, after compaction and after a fifth of the rows was
/// rewritten. Throws Failure on any error and any wrong answer, as the next one.
void MeasureScans(const Dataset& dataset, const Effort& effort, Job& job);

/// Scans synthetic databases for windows of a time in their keys. Throws Failure as above.
void MeasureKeyParts(uint64_t num_series, Job& job);

/// MeasureScans on the input's rows; MeasureKeyParts; then measures the time to fill databases with
/// and without an index. `value_name`: the values' first field.
void RunExperiment(const Input& input, std::string_view value_name, const Effort& effort, Job& job);

}  // namespace blocksieve::bench::skip
