#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "blocksieve/column.h"

namespace blocksieve {

/// One column definition, over the files of a database or column family.
struct SkipIndexColumnUsage {
  std::string definition;               ///< Column::ToText
  uint64_t num_files = 0;               ///< Files whose index has the column.
  uint64_t filter_bytes = 0;            ///< Filters in them, without the size of keys.
  uint64_t bounds_bytes = 0;            ///< Least and greatest values.
  uint64_t num_distinct = 0;            ///< Values distinct within their granule.
  uint64_t files_without_filters = 0;   ///< Of num_files: over budget, or of no use.
  uint64_t files_with_bounds_only = 0;  ///< Of these: filters were not wanted, or bounds suffice.
  uint64_t files_over_budget = 0;       ///< Of num_files: filters or bounds left out for size.
};

/// The skip indexes of a database or column family.
struct SkipIndexSummary {
  /// The columns that can be scanned by. If several definitions have the same name, the one that
  /// the newest file has. Definitions with callbacks cannot be read back and are missing.
  std::vector<Column> columns;

  /// All definitions that occur, in text form, sorted; superseded ones and callbacks too.
  std::vector<SkipIndexColumnUsage> usage;

  uint64_t num_files = 0;         ///< All of them.
  uint64_t files_with_index = 0;  ///< Of these, with a usable one.
  uint64_t index_bytes = 0;       ///< Of all usable indexes.

  /// The largest max_index_bytes that a file needs of those whose index, or a part of it, was left
  /// out for its size; 0: none was, or it is not known.
  uint64_t needed_index_bytes = 0;

  /// "000012.sst: reason" of the files without a usable index, at most 100.
  std::vector<std::string> problems;
};

}  // namespace blocksieve
