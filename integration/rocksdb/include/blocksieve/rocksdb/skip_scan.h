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
  /// Rows are those of this snapshot, which must outlive the scan; null: of the moment of Create.
  const rocksdb::Snapshot* snapshot = nullptr;

  /// Most rows that are returned. 0: all.
  uint64_t limit = 0;

  /// From the greatest key to the least. Not with an order.
  bool reverse = false;

  /// The first rows of this order, not of that of keys. Takes a limit, and memory for so many rows.
  /// All is read in Create: granules in the order of their bounds, until none can hold a better
  /// row. An order by a column without bounds reads everything.
  std::optional<ScanOrder> order = std::nullopt;

  /// Rows are only to be counted: those of granules in which every row matches are not read and not
  /// returned, but are in rows_counted of Explain(). Not with a limit.
  bool count_granules = false;

  /// false: read everything, for comparison.
  bool use_index = true;

  /// If more than this share of all rows lies in granules that were selected and that other files
  /// overlap, so that their rows need re-checking, everything is read in order instead: at most
  /// 1 / share times the blocks, and less time. 1: never.
  double max_rechecked_share = 0.5;

  /// Count, for Explain(), data blocks read and what each comparison selects by itself. Costs a
  /// second analysis of the indexes and RocksDB's per-thread counters.
  bool explain = false;

  /// Called after every 1,024 rows that were looked at, also while Create and Next look for a
  /// match. Must not throw, nor use the scan.
  std::function<void(const ScanExplanation& so_far)> progress = nullptr;

  /// Taken from it: fill_cache, verify_checksums, readahead_size, adaptive_readahead, pin_data,
  /// background_purge_on_iterator_cleanup, ignore_range_deletions, max_skippable_internal_keys,
  /// deadline, io_timeout. Must be left at their defaults: snapshot, iterate_lower_bound,
  /// iterate_upper_bound, table_filter, read_tier, tailing, prefix_same_as_start, timestamp,
  /// iter_start_ts, value_size_soft_limit. All others are ignored: total_order_seek and
  /// auto_prefix_mode, as scans always go in total order, and async_io, with which seeks in RocksDB
  /// 7.8 have ended the process.
  rocksdb::ReadOptions read_options = {};
};

/// The rows of a column family whose value matches a predicate, in key order, at a snapshot:
/// exactly those that a full scan at that snapshot returns, whatever is written, flushed or
/// compacted meanwhile. (Rows that a compaction filter, FIFO or DeleteFilesInRange removes during
/// the scan may or may not be returned: these ignore snapshots.) A database that wraps another one
/// (StackableDB) must show the same rows in iterators and in MultiGet of vectors.
///
/// Memory: the keys of one batch of rows, and an open iterator per file that overlaps others at the
/// place of reading. Holds a snapshot, and the memtables and files of the moment of Create, while
/// it lives. Indexes stay in the cache of ConfigureSkipIndexCache. Not
/// thread-safe; must be destroyed before the database is closed.
class BLOCKSIEVE_EXPORT SkipScan {
 public:
  /// Stands at the first row. `column_family` null: the default one.
  ///
  /// Errors: InvalidArgument for an order without a limit, reversed, or by tokens, and for
  /// count_granules with a limit; NotSupported for a secondary instance, inplace_update_support,
  /// unordered_write and user-defined timestamps; InvalidArgument for read options that a scan sets
  /// itself; MemoryLimit if memory is short, here and later; else those of RocksDB. Damaged or
  /// missing indexes are no errors, but cost reading.
  static rocksdb::Status Create(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family,
                                const Predicate& predicate, const SkipScanOptions& options,
                                std::unique_ptr<SkipScan>* scan);

  /// The same of a text: a predicate, which ORDER BY and LIMIT may follow; see Query. Its columns
  /// are those of the skip index in the column family's options.
  ///
  /// Errors, further: InvalidArgument "position P: what was expected, what was found"; if the
  /// options have no skip index or several; and for an order or a limit in both text and `options`.
  static rocksdb::Status Create(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family,
                                std::string_view query, const SkipScanOptions& options,
                                std::unique_ptr<SkipScan>* scan);

  SkipScan(const SkipScan&) = delete;
  SkipScan& operator=(const SkipScan&) = delete;
  ~SkipScan();

  /// False after the last row, and after an error: see status().
  bool Valid() const;

  /// REQUIRES: Valid()
  void Next();

  /// @{
  /// Of the row at which the scan stands; valid until the next call of Next. REQUIRES: Valid()
  rocksdb::Slice key() const;
  rocksdb::Slice value() const;
  /// @}

  /// OK unless reading failed; then rows are missing from where the scan ended.
  rocksdb::Status status() const;

  /// What was skipped and read so far.
  ScanExplanation Explain() const;

 private:
  class Parts;
  explicit SkipScan(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

/// Where scans keep what they read of skip indexes.
struct SkipIndexCacheOptions {
  /// The least recently used indexes beyond so many bytes go. Reading and checking one again takes
  /// about 0.1 ms per MB, and the time of the disk.
  uint64_t capacity_bytes = 256 << 20;

  /// What the indexes take is charged to it in steps of 256 KiB, as pinned entries, so that a block
  /// cache and they share one limit. If its limit is strict and it has no room, indexes go. It is
  /// kept alive. Null: none.
  std::shared_ptr<rocksdb::Cache> charged = nullptr;
};

/// Of the whole process, for all its databases; at any time. Thread-safe.
BLOCKSIEVE_EXPORT void ConfigureSkipIndexCache(const SkipIndexCacheOptions& options);

}  // namespace blocksieve
