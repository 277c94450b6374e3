#pragma once

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/statistics.h>
#include <rocksdb/table.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/support/counters.h"
#include "bench/support/rows.h"

// RocksDB databases whose flushes and compactions happen when a benchmark says so, and never by
// themselves: all contestants have the same rows in the same places.

namespace blocksieve::bench {

/// One way to set RocksDB up, which is compared with others.
struct Contestant {
  std::string name;  ///< For tables and errors.

  /// Changes what is its own in the options that all contestants share. Empty: nothing.
  std::function<void(rocksdb::Options&)> set_up;
};

/// The table options in `options`, which must be those of a Database.
rocksdb::BlockBasedTableOptions& TableOptions(rocksdb::Options& options);

/// Where data blocks come from. Filters and indexes are in memory in any case, as RocksDB keeps
/// them by default (cache_index_and_filter_blocks = false), partitions excepted.
enum class Reads {
  kCached,    ///< From a block cache of half of the memory.
  kCold,      ///< From the file each time, past the page cache if the file system can: a database
              ///< far larger than memory.
  kColdOnce,  ///< The same when it is read for the first time after ForgetReads, later cached.
};

struct LevelShape {
  int level = 0;
  size_t num_files = 0;
  uint64_t num_entries = 0;
  bool operator==(const LevelShape&) const = default;
};

/// What metadata and table properties of all files say.
struct TreeShape {
  std::vector<LevelShape> levels;  ///< Levels that hold files.
  size_t num_files = 0;
  size_t num_filters = 0;  ///< Files with a filter.
  uint64_t num_entries = 0;
  uint64_t filter_bytes = 0;
};

/// A database of one contestant. Every error of RocksDB throws Failure.
class Database {
 public:
  /// Creates `path` if missing. `num_bytes`: of all rows, by which the size of files is chosen.
  Database(Contestant contestant, uint64_t num_bytes, std::filesystem::path path);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// Opens it with nothing cached, created if missing. Closes it before if it is open.
  void Open(Reads reads);
  void Close();

  /// Makes reads of a database with kColdOnce cold again. REQUIRES: open.
  void ForgetReads();

  /// Puts the rows of these numbers, in this order and without a log, and flushes them into a file.
  void PutAndFlush(const Rows& rows, std::span<const uint32_t> order);

  /// The same in pieces of RocksDB's default write buffer, which are then compacted, with all other
  /// files of level 0, into files on `level`.
  void FillLevel(const Rows& rows, std::span<const uint32_t> order, int level);

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
