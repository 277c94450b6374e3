#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/statistics.h>
#include <rocksdb/table.h>
#include <rocksdb/version.h>

#include <memory>
#include <span>

#include "bench/support/inputs.h"

// RocksDB databases that flush and compact only when a benchmark says so: all contestants have the
// same rows in the same places.

namespace blocksieve::bench {

/// Counts of RocksDB's own tickers and perf context.
struct Counters {
  uint64_t lookups = 0;  ///< Calls of Get (ticker NUMBER_KEYS_READ).
  uint64_t found = 0;    ///< Lookups that a file answered (tickers GET_HIT_*).

  // Filter probes: tickers BLOOM_FILTER_USEFUL, _FULL_POSITIVE, _FULL_TRUE_POSITIVE.
  uint64_t filter_negatives = 0;
  uint64_t filter_positives = 0;
  uint64_t filter_true_positives = 0;

  // Data blocks: tickers BLOCK_CACHE_DATA_MISS, read from a file, and BLOCK_CACHE_DATA_HIT.
  uint64_t data_blocks_read = 0;
  uint64_t data_blocks_cached = 0;

  uint64_t blocks_read = 0;  ///< Blocks of all kinds (perf context block_read_count).

  Counters& operator+=(const Counters& other);

  uint64_t data_blocks() const { return data_blocks_read + data_blocks_cached; }

  uint64_t false_positives() const { return filter_positives - filter_true_positives; }

  /// Probes for keys that the file does not have.
  uint64_t absent_probes() const { return false_positives() + filter_negatives; }

  /// False positives per probe for a key that the file does not have; NaN without such probes.
  double fpr() const;
};

/// Counts events from construction to Stop: the perf context for this thread, the tickers for the
/// whole database, which nothing else may use meanwhile. RocksDB counts nothing outside windows.
class CounterWindow {
 public:
  /// Throws Failure.
  explicit CounterWindow(rocksdb::Statistics& statistics);
  ~CounterWindow();
  CounterWindow(const CounterWindow&) = delete;
  CounterWindow& operator=(const CounterWindow&) = delete;

  Counters Stop() const;

 private:
  rocksdb::Statistics& statistics_;
};

/// Whether RocksDB has user-defined indexes.
inline constexpr bool kHasBlockIndexes = ROCKSDB_MAJOR > 11 ||
                                         (ROCKSDB_MAJOR == 11 && ROCKSDB_MINOR >= 2);

/// One of the RocksDB configurations that a benchmark compares.
struct Contestant {
  std::string name;  ///< For tables and errors.

  /// Changes the options that all contestants share. Empty: changes nothing.
  std::function<void(rocksdb::Options&)> set_up;
};

/// Throws Failure, which names `what`, unless `status` is OK.
void CheckOk(const rocksdb::Status& status, std::string_view what);

/// The table options in `options`, which must be those of a Database.
rocksdb::BlockBasedTableOptions& TableOptions(rocksdb::Options& options);

/// Where data blocks come from. Filters and indexes are in memory in any case, as RocksDB keeps
/// them by default (cache_index_and_filter_blocks = false), partitions excepted.
enum class Reads {
  kCached,    ///< From a block cache of half the machine's memory.
  kCold,      ///< From the file each time, bypassing the page cache if the file system can: like a
              ///< database far larger than memory.
  kColdOnce,  ///< From the file when first read after ForgetReads, then from the cache.
};

struct LevelShape {
  int level = 0;
  size_t num_files = 0;
  uint64_t num_entries = 0;
  bool operator==(const LevelShape&) const = default;
};

/// The shape of a tree, from the metadata and table properties of all files.
struct TreeShape {
  std::vector<LevelShape> levels;  ///< Levels that hold files.
  size_t num_files = 0;
  size_t num_filters = 0;  ///< Files with a filter.
  uint64_t num_entries = 0;
  uint64_t filter_bytes = 0;
  uint64_t index_bytes = 0;
};

/// One contestant's database. Every RocksDB error throws Failure.
class Database {
 public:
  /// Creates `path` if missing. `num_bytes`, the size of all rows, determines the file size.
  Database(Contestant contestant, uint64_t num_bytes, std::filesystem::path path);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// Opens the database, created if missing, with an empty cache. Closes it first if it is open.
  void Open(Reads reads);
  void Close();

  /// With kColdOnce, makes reads cold again. REQUIRES: open.
  void ForgetReads();

  /// Puts the rows with these numbers, in this order and without a WAL, and flushes them to a file.
  void PutAndFlush(const Rows& rows, std::span<const uint32_t> order);

  /// The same in portions of RocksDB's default write buffer, then compacted, with all other level-0
  /// files, into files on `level`.
  void FillLevel(const Rows& rows, std::span<const uint32_t> order, int level);

  /// Looks up a key. Throws Failure unless it has this value or, without one, is absent. REQUIRES:
  /// open.
  void CheckGet(std::string_view key, std::optional<std::string_view> value);

  TreeShape Shape();

  void Check(const rocksdb::Status& status, std::string_view what) const;

  const std::string& name() const { return contestant_.name; }
  const std::filesystem::path& path() const { return path_; }
  Reads reads() const { return reads_; }
  rocksdb::DB& db() { return *db_; }
  rocksdb::Statistics& statistics() { return *statistics_; }
  const rocksdb::Options& options() const { return options_; }

 private:
  void SetOptions();

  const Contestant contestant_;
  const uint64_t file_bytes_;
  const std::filesystem::path path_;
  const std::shared_ptr<rocksdb::Statistics> statistics_;
  Reads reads_ = Reads::kCached;
  std::shared_ptr<rocksdb::Cache> cache_;
  rocksdb::Options options_;
  std::unique_ptr<rocksdb::DB> db_;
};

}  // namespace blocksieve::bench
