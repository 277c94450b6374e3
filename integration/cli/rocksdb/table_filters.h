#pragma once

#include <rocksdb/env.h>
#include <rocksdb/table_properties.h>

#include <cstdint>
#include <string>
#include <vector>

#include "blocksieve/bytes.h"
#include "blocksieve/status.h"
#include "integration/cli/engine/table_file.h"

// The filters of a block-based table: where they are, and what each says about itself.

namespace blocksieve::cli {

/// The filter of a part of a table.
struct TableFilter {
  std::string last_key;  ///< At or after the keys of this part, before those of the next one.
  std::string contents;  ///< As RocksDB hands it to a filter policy.
  Status status;         ///< Why it cannot be used.
};

/// The filters of a block-based table.
struct TableFilters {
  bool is_partitioned = false;
  std::vector<TableFilter> parts;  ///< One if it is not partitioned; none if there is no filter.
};

/// Reads the filters of a file with these properties. Errors: Corruption, NotSupported; for single
/// filters, see their status.
Result<TableFilters> ReadTableFilters(const rocksdb::RandomAccessFile& file, uint64_t file_bytes,
                                      const rocksdb::TableProperties& properties);

/// What a single filter says about itself.
struct FilterFacts {
  FilterOrigin origin = FilterOrigin::kUnreadable;
  std::string kind;
  uint64_t num_entries = 0;
  double predicted_fpr = 1;
  std::string problem;  ///< Why it is unreadable; otherwise empty.
};

/// Describes any filter of RocksDB's built-in family. Stock filters do not record how many entries
/// they have, so `stock_bits_per_entry` is that of the whole file. REQUIRES: it is positive.
FilterFacts DescribeFilter(ByteView contents, double stock_bits_per_entry);

}  // namespace blocksieve::cli
