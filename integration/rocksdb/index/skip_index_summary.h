#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/db.h>

#include <cstdint>
#include <string>
#include <vector>

#include "blocksieve/column.h"

namespace blocksieve::rocksdb_plugin {

/// One column definition in the skip indexes of a column family.
struct SkipIndexColumnUsage {
  std::string definition;                 ///< Column::ToText
  uint64_t num_files = 0;                 ///< Files whose index has the column.
  uint64_t filter_bytes = 0;              ///< Size of its filters, without keys.
  uint64_t bounds_bytes = 0;              ///< Size of its minima and maxima.
  uint64_t num_distinct = 0;              ///< Distinct values, counted by granule.
  uint64_t files_without_filters = 0;     ///< Files without its filters, for whatever reason.
  uint64_t files_with_bounds_chosen = 0;  ///< Of these: their bounds suffice.
  uint64_t files_over_budget = 0;         ///< Files that lack its filters or bounds: over budget.
  uint64_t files_over_memory = 0;         ///< The same because building them would take too much.
};

/// The skip indexes of a column family.
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

/// Summarises the indexes of all files from table properties and sidecars, without reading data.
/// Errors: InvalidArgument if `db` or `summary` is null; MemoryLimit; those of RocksDB.
rocksdb::Status ReadSkipIndexes(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family,
                                SkipIndexSummary* summary);

}  // namespace blocksieve::rocksdb_plugin
