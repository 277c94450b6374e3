#pragma once

#include <rocksdb/env.h>
#include <rocksdb/table_properties.h>

#include <string>
#include <vector>

#include "blocksieve/status.h"

namespace blocksieve::cli {

/// The filter of a part of a table.
struct TableFilter {
  std::string last_key;  ///< Not less than the keys of the part, less than the next part's.
  std::string contents;  ///< As RocksDB hands it to a filter policy.
  Status status;         ///< Why it cannot be used.
};

/// The filters of a block-based table.
struct TableFilters {
  bool is_partitioned = false;
  std::vector<TableFilter> parts;  ///< One if it is not partitioned; none if there is no filter.
};

/// Reads them. `properties` are those of the file.
/// Errors: Corruption, NotSupported; for single filters, see their status.
Result<TableFilters> ReadTableFilters(const rocksdb::RandomAccessFile& file, uint64_t file_bytes,
                                      const rocksdb::TableProperties& properties);

}  // namespace blocksieve::cli
