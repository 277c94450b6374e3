#pragma once

/// \file
/// blocksieve in RocksDB, a call for each feature:
///
///     rocksdb::Options options;
///     rocksdb::Status status = blocksieve::EnableFilter(&options, {.target_fpr = 0.01});
///     if (status.ok()) {
///       status = blocksieve::EnableSkipIndex(&options, {.columns = {"package=field:1"}});
///     }
///
/// A call sets everything that its feature needs. On error it changes nothing, and the status names
/// the option, its value, what is allowed and what to do. Called again, the last options count. All
/// are thread-safe on options of one's own; memory that is short is MemoryLimit.

#include <rocksdb/options.h>
#include <rocksdb/status.h>

#include "blocksieve/rocksdb/filter_policy.h"
#include "blocksieve/rocksdb/skip_index.h"
#include "blocksieve/rocksdb/skip_scan.h"

namespace blocksieve {

/// The options in which a feature is enabled; a view, which owns nothing. Write &options, or
/// {&db_options, &column_family_options} for a database of several column families.
class OptionsToSet {
 public:
  /// @{
  /// Implicit, so that calls take pointers. Without DBOptions, features that need the listener
  /// (NewListener) are refused: wasted_reads, bits_per_key, and indexes in files beside the SSTs.
  OptionsToSet(rocksdb::Options* options)  // NOLINT: implicit
      : db_(options), column_family_(options) {}
  OptionsToSet(rocksdb::ColumnFamilyOptions* column_family)  // NOLINT: implicit
      : column_family_(column_family) {}
  OptionsToSet(rocksdb::DBOptions* db, rocksdb::ColumnFamilyOptions* column_family)
      : db_(db), column_family_(column_family) {}
  /// @}

  rocksdb::DBOptions* db() const { return db_; }  ///< Null: unknown.
  rocksdb::ColumnFamilyOptions* column_family() const { return column_family_; }  ///< Or null.

 private:
  rocksdb::DBOptions* db_ = nullptr;
  rocksdb::ColumnFamilyOptions* column_family_ = nullptr;
};

/// Gives new files filters of keys, and of ranges if `filter.ranges` is set. Sets the filter policy
/// of the block-based tables, the prefix extractor for ranges, and the listener for wasted_reads
/// and bits_per_key. Keeps all other options of the tables.
///
/// Errors: InvalidArgument if an option is out of range, tables are not block-based, the listener
/// has no place, or something is in the way of ranges: see EnableRangeFilter. NotSupported if the
/// loaded RocksDB has another filter interface than blocksieve was compiled for, or fails its test
/// of range filters.
BLOCKSIEVE_EXPORT rocksdb::Status EnableFilter(OptionsToSet options,
                                               const FilterPolicyOptions& filter = {});

/// EnableFilter with `ranges`: seeks with an upper bound (PrepareRangeRead) read no block of a file
/// that has no key in their range. Files keep their filters until they are rewritten.
///
/// Errors: those of EnableFilter; InvalidArgument, naming what is in the way, if the comparator is
/// not bytewise (timestamps of 64 bits are all right), whole_key_filtering is off, the index or the
/// memtable hashes prefixes, or there is another prefix extractor. RocksDB checks the same when it
/// opens a database, but not when CreateColumnFamily adds to one.
BLOCKSIEVE_EXPORT rocksdb::Status EnableRangeFilter(OptionsToSet options,
                                                    const RangeFilterOptions& filter = {});

/// Gives new files skip indexes of these columns, for SkipScan. Sets the collector of table
/// properties, in place of one that an earlier call set, and the listener. Files that exist get
/// theirs by RebuildSkipIndexes (skip_index.h) or BackfillSkipIndexes.
///
/// Errors: InvalidArgument if there is no column, a text is none, two have one name, an option is
/// out of range, tables are not block-based, or the listener has no place. Without DBOptions set
/// `max_property_bytes` to UINT64_MAX, which keeps all indexes in properties.
BLOCKSIEVE_EXPORT rocksdb::Status EnableSkipIndex(OptionsToSet options,
                                                  const SkipIndexOptions& index);

}  // namespace blocksieve
