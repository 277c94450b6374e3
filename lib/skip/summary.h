#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "blocksieve/column.h"
#include "blocksieve/skip_index.h"
#include "blocksieve/status.h"

namespace blocksieve {

/// One column definition in the skip indexes of a database or column family.
struct SkipIndexColumnUsage {
  std::string definition;               ///< Column::ToText
  uint64_t num_files = 0;               ///< Files whose index has the column.
  uint64_t filter_bytes = 0;            ///< Size of its filters, without keys.
  uint64_t bounds_bytes = 0;            ///< Size of its minima and maxima.
  uint64_t num_distinct = 0;            ///< Distinct values, counted by granule.
  uint64_t files_without_filters = 0;   ///< Files without its filters: over budget or not useful.
  uint64_t files_with_bounds_only = 0;  ///< Of these: their bounds suffice.
  uint64_t files_over_budget = 0;       ///< Files that lack its filters or bounds: over budget.
  uint64_t files_over_memory = 0;       ///< The same because building them would take too much.
};

/// The skip indexes of a database or column family.
struct SkipIndexSummary {
  /// Columns to scan by. If files define a name differently, the newest file's definition.
  std::vector<Column> columns;
  std::vector<SkipIndexColumnUsage> usage;  ///< All definitions in files, sorted by text form.
  uint64_t num_files = 0;                   ///< All files.
  uint64_t files_with_index = 0;            ///< Files with a usable index.
  uint64_t index_bytes = 0;                 ///< Size of all usable indexes.
  /// The max_index_bytes that drops nothing in any file. 0: nothing was dropped, or not known.
  uint64_t needed_index_bytes = 0;
  std::vector<std::string> problems;  ///< "000012.sst: why it has no usable index", at most 100.
};

}  // namespace blocksieve

namespace blocksieve::internal {

/// Sums up the skip indexes of files, which must be added from the oldest to the newest.
class SkipIndexSummarizer {
 public:
  /// Adds a file with a usable index of `num_bytes`. Errors: ResourceExhausted (memory).
  Status AddIndex(std::span<const IndexColumnInfo> columns, uint64_t num_bytes);

  /// For a file whose index is incomplete: adds the max_index_bytes that would complete it.
  void AddNeededBytes(uint64_t bytes);

  /// Adds a file without a usable index: "000012.sst: reason".
  void AddProblem(std::string problem);

  /// Adds a column of the file added last, whose options define the column although its index was
  /// not built. Errors: ResourceExhausted (memory).
  Status AddDefinition(std::string_view definition);

  /// REQUIRES: Finish() has not been called
  SkipIndexSummary Finish();

 private:
  SkipIndexSummary summary_;
  std::map<std::string, SkipIndexColumnUsage, std::less<>> usage_;  // by definition
  std::map<std::string, Column> columns_;                           // by name
};

}  // namespace blocksieve::internal
