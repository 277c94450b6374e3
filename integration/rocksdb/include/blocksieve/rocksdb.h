#pragma once  // SPDX-License-Identifier: Apache-2.0

/// \file
/// blocksieve in RocksDB, one call per feature:
///
///     rocksdb::Options options;
///     rocksdb::Status status = blocksieve::EnableFilter(&options, {.target_fpr = 0.01});
///     if (status.ok()) {
///       status = blocksieve::EnableSkipIndex(&options, {.columns = {"package=field:1"}});
///     }
///
/// A call sets all RocksDB options of its feature, in place of an earlier call. On error it changes
/// nothing, and the status names the option, its value, what is allowed and what to do; MemoryLimit
/// if memory is short. Threads, ownership and exceptions: the rules in blocksieve/status.h.

#include <rocksdb/options.h>

#include "blocksieve/rocksdb/block_index.h"
#include "blocksieve/rocksdb/filter_policy.h"
#include "blocksieve/rocksdb/maintenance.h"
#include "blocksieve/rocksdb/prune_reads.h"
#include "blocksieve/rocksdb/skip_index.h"

namespace blocksieve {

/// View of the options in which a feature is enabled: &options, or {&db_options,
/// &column_family_options} for a database with several column families. Owns nothing.
class OptionsToSet {
 public:
  /// @{
  /// Implicit, so that calls take pointers. Features that need the listener (NewListener) are
  /// refused without DBOptions: wasted_reads, bits_per_key, and indexes in files beside the SSTs.
  OptionsToSet(rocksdb::Options* options)  // NOLINT: implicit
      : db_(options), column_family_(options) {}
  OptionsToSet(rocksdb::ColumnFamilyOptions* column_family)  // NOLINT: implicit
      : column_family_(column_family) {}
  OptionsToSet(rocksdb::DBOptions* db, rocksdb::ColumnFamilyOptions* column_family)
      : db_(db), column_family_(column_family) {}
  /// @}

  rocksdb::DBOptions* db() const { return db_; }  ///< Null if not given.
  rocksdb::ColumnFamilyOptions* column_family() const { return column_family_; }  ///< May be null.

 private:
  rocksdb::DBOptions* db_ = nullptr;
  rocksdb::ColumnFamilyOptions* column_family_ = nullptr;
};

/// Gives new files key filters, and range filters if `filter.ranges` is set. Sets the filter
/// policy, if needed the prefix extractor and the listener, and keeps all other table options.
///
/// Errors: InvalidArgument if an option is out of range, tables are not block-based, or DBOptions
/// are missing, and as for EnableRangeFilter; NotSupported if the loaded RocksDB has a filter
/// interface for which blocksieve was not compiled, or fails the self-test of range filters.
BLOCKSIEVE_EXPORT rocksdb::Status EnableFilter(OptionsToSet options,
                                               const FilterPolicyOptions& filter = {});

/// EnableFilter with `ranges`: seeks with an upper bound (PrepareRangeRead) read no block of a file
/// that has no key in their range. Existing files keep their filters until they are rewritten.
///
/// Errors: those of EnableFilter; InvalidArgument, naming the option, if another option rules range
/// filters out (RANGES.md, Limits). RocksDB checks the same when it opens a database, but not in
/// CreateColumnFamily.
BLOCKSIEVE_EXPORT rocksdb::Status EnableRangeFilter(OptionsToSet options,
                                                    const RangeFilterOptions& filter = {});

/// Gives new files skip indexes on these columns, for SkipScan and PruneReads. Sets the table
/// properties collector and the listener. RebuildSkipIndexes (skip_index.h) indexes
/// existing files.
///
/// Errors: InvalidArgument if `columns` are empty or malformed, two have one name, an option is out
/// of range, tables are not block-based, or DBOptions are missing. DBOptions are not needed if all
/// indexes are in properties: SkipIndexStorage::max_property_bytes = UINT64_MAX.
BLOCKSIEVE_EXPORT rocksdb::Status EnableSkipIndex(OptionsToSet options,
                                                  const SkipIndexOptions& index,
                                                  const SkipIndexStorage& storage = {});

}  // namespace blocksieve
