#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/status.h>

#include <cstdint>
#include <string>

#include "blocksieve/bytes.h"
#include "blocksieve/column.h"
#include "blocksieve/skip_index.h"

/// \file
/// An index of data blocks by RocksDB's user-defined index (RocksDB 11.2 and later), which knows
/// ranges of keys, prefixes and values. Iterators that use it read no block for a range without
/// keys, and none without a row that may match a condition. BLOCK_INDEX.md says when to use it.

namespace blocksieve {

/// What the index of a file holds besides its blocks: at least one of ranges, prefixes, columns.
struct BlockIndexOptions {
  bool ranges = false;        ///< Whether bounded iterators read nothing in ranges without keys.
  double range_fpr = 0.011;   ///< As FilterOptions::range_fpr.
  std::string prefixes = {};  ///< Rule of prefixes, as FilterPolicyOptions::prefixes; empty: none.
  double prefix_fpr = 0.01;   ///< As FilterOptions::prefix_fpr.

  /// Columns whose values are indexed by data block, for PruneReads; empty: none. At most 256.
  ColumnList columns = {};
  double value_fpr = 0.001;         ///< As SkipIndexOptions::target_fpr.
  uint32_t value_suffix_bytes = 0;  ///< As SkipIndexStorage::value_suffix_bytes.
  /// Budget for the index of values of a file, in bytes, as SkipIndexOptions::max_index_bytes.
  uint64_t max_index_bytes = kDefaultMaxIndexBytes;
};

/// Gives new files an index of data blocks beside RocksDB's own: reads use it where PruneReads
/// chose it. Files without it, and processes without this plug-in, use RocksDB's index. In OPTIONS
/// files and option strings, in the options of the table and, with columns, of the column family:
///   user_defined_index_factory={id=blocksieve.index;ranges=true;columns=pkg=field:1}
///   table_properties_collectors={{id=blocksieve.block_index.id}}
///
/// Sets user_defined_index_factory and, for columns, a table properties collector, which names the
/// index of a file to PruneReads; in place of an earlier call. On error it changes nothing.
/// Errors: NotSupported before RocksDB 11.2;
/// InvalidArgument if an option is out of its range, `options` ask for nothing, tables are not
/// block-based, another user-defined index is set, compression_opts.parallel_threads is above 1,
/// the filter policy or the collector of skip indexes stores the same a second time, the comparator
/// has timestamps, or, with ranges or prefixes, is not bytewise.
BLOCKSIEVE_EXPORT rocksdb::Status EnableIndex(rocksdb::ColumnFamilyOptions* options,
                                              const BlockIndexOptions& index);

/// Makes the index the primary one in `options`, with which `db` is to be opened next: all
/// iterators then use it, for ranges without a call. RocksDB then refuses files without the index,
/// and every process without this plug-in refuses the options. To back out, set
/// use_udi_as_primary_index to false: no file changes.
///
/// Reads the tail of each live file. On error it changes nothing. Errors: InvalidArgument if
/// EnableIndex did not set `options`, or with partitioned indexes or filters; Incomplete if a file
/// lacks the index, naming the first: RewriteFilters gives it one; then call again. Else those of
/// RocksDB.
BLOCKSIEVE_EXPORT rocksdb::Status MakeIndexPrimary(rocksdb::DB* db,
                                                   rocksdb::ColumnFamilyHandle* column_family,
                                                   rocksdb::ColumnFamilyOptions* options);

}  // namespace blocksieve
