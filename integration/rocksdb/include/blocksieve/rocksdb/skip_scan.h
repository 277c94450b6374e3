#pragma once

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/slice.h>
#include <rocksdb/status.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "blocksieve/predicate.h"
#include "blocksieve/skip_index.h"

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

  /// Only count rows: granules in which every row matches are not read. Their rows are not returned
  /// but added to rows_counted of Explain(). Incompatible with `limit`.
  bool count_granules = false;
  bool use_index = true;  ///< False: read everything, for comparison.

  /// Maximum share of all rows that may need re-checking, because they are in selected granules of
  /// files that overlap others. Above it, the scan reads everything in order, which takes at most
  /// 1 / share times the blocks, and less time. 1: no maximum.
  double max_rechecked_share = 0.5;

  /// Count data blocks read, and what each comparison selects by itself, for Explain(). Costs a
  /// second analysis of the indexes and RocksDB's per-thread counters.
  bool explain = false;

  /// Called after every 1,024 rows examined, also while Create and Next look for a match. Must not
  /// throw, nor use the scan.
  std::function<void(const ScanExplanation& so_far)> progress = nullptr;

  /// Used: fill_cache, verify_checksums, readahead_size, adaptive_readahead, pin_data,
  /// background_purge_on_iterator_cleanup, ignore_range_deletions, max_skippable_internal_keys,
  /// deadline, io_timeout. Must keep their defaults: snapshot, iterate_lower_bound,
  /// iterate_upper_bound, table_filter, read_tier, tailing, prefix_same_as_start, timestamp,
  /// iter_start_ts, value_size_soft_limit. Ignored: all others, among them total_order_seek and
  /// auto_prefix_mode (scans always use total order) and async_io (with it, seeks in RocksDB 7.8
  /// have ended the process).
  rocksdb::ReadOptions read_options = {};
};

/// The rows of a column family whose value matches a predicate, in key order, at a snapshot:
/// exactly those of a full scan at that snapshot, despite concurrent writes, flushes and
/// compactions. (A compaction filter, FIFO or DeleteFilesInRange ignores snapshots, so rows that it
/// removes meanwhile may be missing.) A StackableDB must show the same rows in iterators and in
/// MultiGet of vectors.
///
/// Memory: the keys of one batch of rows, and an iterator for each file that overlaps others at the
/// current position. Holds a snapshot, and the memtables and files of the moment of Create. Not
/// thread-safe. Destroy it before closing the database.
class BLOCKSIEVE_EXPORT SkipScan {
 public:
  /// Opens a scan at its first row. `column_family` null: the default one.
  ///
  /// Errors: InvalidArgument for an order without a limit, with `reverse`, or by words or n-grams;
  /// for count_granules with a limit; and for read options that must keep their defaults.
  /// NotSupported for a secondary instance, inplace_update_support, unordered_write and
  /// user-defined timestamps. MemoryLimit if memory is short, here and later. Else those of
  /// RocksDB. Files whose index is missing or damaged are read as a whole, without an error.
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

/// May be called at any time. Thread-safe.
BLOCKSIEVE_EXPORT void ConfigureSkipIndexCache(const SkipIndexCacheOptions& options);

}  // namespace blocksieve
