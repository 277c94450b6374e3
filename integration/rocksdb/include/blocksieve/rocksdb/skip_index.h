#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/table_properties.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "blocksieve/column.h"
#include "blocksieve/predicate.h"
#include "blocksieve/scan.h"
#include "blocksieve/skip_index.h"

/// \file
/// Skip indexes on the values of a RocksDB. A collector writes an index over columns of the values
/// with each SST file; SkipScan reads only granules that can match a predicate.

namespace blocksieve {

/// What a SkipScan reads, and how.
struct SkipScanOptions {
  const rocksdb::Snapshot* snapshot = nullptr;  ///< Must outlive the scan. Null: taken by Create.
  uint64_t limit = 0;                           ///< Maximum number of rows to return. 0: no limit.
  bool reverse = false;  ///< Descending keys. Incompatible with `order`; set its is_descending.

  /// Return the first rows in this order, not in key order. Needs `limit`, and memory for as many
  /// rows. Create reads everything: granules in the order of their bounds, until none can hold a
  /// better row. Without bounds on the column it reads all granules.
  std::optional<ScanOrder> order = std::nullopt;

  /// Return no rows: Create reads them all, and Explain().rows_returned is their number. Without
  /// `limit`, granules are not read of which all rows are known to match, as PRUNING.md says.
  bool count_only = false;

  bool use_index = true;  ///< False: read everything, for comparison.

  /// Maximum share of all rows that may need re-checking, because they are in selected granules of
  /// files that overlap others. Above it, the scan reads everything in order, which takes at most
  /// 1 / share times the blocks, and less time. 1: no maximum.
  double max_rechecked_share = 0.5;

  /// Count data blocks read, and what each comparison selects by itself, for Explain(). Costs a
  /// second analysis of the indexes and RocksDB's per-thread counters.
  bool explain = false;

  /// Called after every 1,024 rows examined, also while Create and Next look for a match. Must not
  /// use the scan.
  std::function<void(const ScanExplanation& so_far)> progress = nullptr;

  /// Used: fill_cache, verify_checksums, readahead_size, adaptive_readahead, pin_data,
  /// background_purge_on_iterator_cleanup, ignore_range_deletions, max_skippable_internal_keys,
  /// deadline, io_timeout. Must keep their defaults: snapshot, iterate_lower_bound,
  /// iterate_upper_bound, table_filter, read_tier, tailing, prefix_same_as_start, timestamp,
  /// iter_start_ts, value_size_soft_limit. Ignored: all others, among them total_order_seek and
  /// auto_prefix_mode (scans always use total order) and async_io.
  rocksdb::ReadOptions read_options = {};
};

/// The rows of a column family whose value matches a predicate, in key order, at a snapshot:
/// exactly those of a full scan at that snapshot, despite concurrent writes, flushes and
/// compactions. (A compaction filter, FIFO or DeleteFilesInRange ignores snapshots, so rows that it
/// removes meanwhile may be missing.) A StackableDB must show the same rows in iterators and in
/// MultiGet of vectors.
///
/// Holds a snapshot, the memtables and files of the moment of Create, a batch of rows, and an
/// iterator for each file that overlaps others at the current position. Not thread-safe. Destroy it
/// before the handle of its column family, and before closing the database.
class BLOCKSIEVE_EXPORT SkipScan {
 public:
  /// Opens a scan at its first row. `column_family` null: the default one.
  ///
  /// Errors: InvalidArgument for incompatible options, an order by words or n-grams, and read
  /// options that must keep their defaults. NotSupported for a secondary instance,
  /// inplace_update_support, unordered_write and user-defined timestamps. MemoryLimit if memory is
  /// short, here and later. Else those of RocksDB. A missing or damaged index is no error.
  static rocksdb::Status Create(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family,
                                const Predicate& predicate, const SkipScanOptions& options,
                                std::unique_ptr<SkipScan>* scan);

  /// The same for a text: a predicate, optionally followed by ORDER BY and LIMIT; see Query. Uses
  /// the columns of the skip index in the column family's options.
  ///
  /// Further errors: InvalidArgument "position P: expected ...; found ..."; without exactly one
  /// skip index in the options; for an order or a limit in both the text and `options`.
  static rocksdb::Status Create(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family,
                                std::string_view query, const SkipScanOptions& options,
                                std::unique_ptr<SkipScan>* scan);

  SkipScan(const SkipScan&) = delete;
  SkipScan& operator=(const SkipScan&) = delete;
  ~SkipScan();

  bool Valid() const;  ///< False after the last row, and after an error: see status().
  void Next();         ///< REQUIRES: Valid()

  rocksdb::Slice key() const;       ///< The current row's, until Next. REQUIRES: Valid()
  rocksdb::Slice value() const;     ///< The current row's, until Next. REQUIRES: Valid()
  rocksdb::Status status() const;   ///< An error ends the scan early; rows are missing then.
  ScanExplanation Explain() const;  ///< What was skipped and read so far.

 private:
  class Parts;
  explicit SkipScan(std::unique_ptr<Parts> parts);

  static rocksdb::Status Open(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family,
                              const rocksdb::Options& db_options, const Predicate& predicate,
                              const SkipScanOptions& options, std::unique_ptr<SkipScan>* scan);

  std::unique_ptr<Parts> parts_;
};

/// The cache of skip indexes, one for all databases of the process.
struct SkipIndexCacheOptions {
  /// Capacity in bytes; the least recently used indexes are dropped. Reading and checking one again
  /// takes about 0.1 ms per MB, and the disk's time.
  uint64_t capacity_bytes = 256 << 20;

  /// Block cache to which the indexes' memory is charged in steps of 256 KiB, as pinned entries, so
  /// that both share one limit. If its limit is strict and it has no room, indexes are dropped.
  /// Shared. Null: none.
  std::shared_ptr<rocksdb::Cache> charged = nullptr;
};

/// May be called at any time.
BLOCKSIEVE_EXPORT void ConfigureSkipIndexCache(const SkipIndexCacheOptions& options);

/// Progress of RebuildSkipIndexes or RewriteFilters, over all of their column families.
struct FileProgress {
  uint64_t files_done = 0;  ///< Files finished so far.
  uint64_t files_left = 0;  ///< Files that are still to be done.
  uint64_t bytes_done = 0;  ///< Bytes of the finished files.
  uint64_t bytes_left = 0;  ///< Bytes of the others.
};

// RocksDB does not copy sidecars (EnableOptions::max_property_bytes) with SSTs, as OPERATING.md
// says. These functions copy or rebuild them. A missing sidecar costs only time: its SST is read as
// a whole. Errors: those of RocksDB and of the file system; MemoryLimit.

/// Links or copies from `directory` the missing sidecars of the column family's SSTs, under
/// whatever names they have there. The directory may be one to which *.bsx files were copied beside
/// a backup, or that of the database from which SSTs were copied, ingested or imported.
/// `*num_copied`, if not null, becomes the number of sidecars found.
BLOCKSIEVE_EXPORT rocksdb::Status CopySkipIndexes(rocksdb::DB* db,
                                                  rocksdb::ColumnFamilyHandle* column_family,
                                                  const std::string& directory,
                                                  uint64_t* num_copied = nullptr);

/// Reads the SSTs that lack the index of their column family's current options, one at a time, and
/// writes each a sidecar: after a restore, or to index another column. It rewrites no SST;
/// CompactRange with BottommostLevelCompaction::kForce does, and builds the index as well. Finished
/// sidecars stay, so a call after a stop continues where it ended. `progress`, if set, is called
/// before each file, while it is read, and at the end; false stops, unless no files are left. Reads
/// at most `bytes_per_second` of keys and values; 0: no limit.
///
/// `column_families`: handles that DB::Open returned, for one family after the other. A null
/// pointer means the default family, and an empty list all families of a database that has no other
/// one. For other databases an empty list is InvalidArgument, as RocksDB does not return handles
/// again.
///
/// Before RocksDB 9.3, SSTs with merge operands or several versions of a row get none: compact
/// them.
///
/// Errors: InvalidArgument unless each column family has exactly one skip index factory (a file
/// keeps one index); NotSupported with user-defined timestamps;
/// Incomplete if `progress` returned false, or SSTs cannot be indexed (naming the first).
BLOCKSIEVE_EXPORT rocksdb::Status RebuildSkipIndexes(
    rocksdb::DB* db, const std::vector<rocksdb::ColumnFamilyHandle*>& column_families,
    const std::function<bool(const FileProgress&)>& progress = nullptr,
    uint64_t bytes_per_second = 0);

}  // namespace blocksieve
