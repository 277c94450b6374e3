#pragma once

#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/statistics.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "bench/read_amp/contestants.h"
#include "bench/read_amp/counters.h"
#include "bench/support/rows.h"

namespace blocksieve::bench::read_amp {

/// Where data blocks come from when a key is looked up. Filters and indexes are in memory either
/// way, as RocksDB keeps them by default (cache_index_and_filter_blocks = false): they are small
/// and hot, and that their bytes are the price is what the report's size columns say.
enum class Temperature {
  kCold,  ///< No block cache, and past the page cache if the file system can: a database far larger
          ///< than memory.
  kWarm,  ///< From a block cache that holds everything.
};

/// One level of a tree.
struct LevelShape {
  int level = 0;
  size_t num_files = 0;
  uint64_t num_entries = 0;
  bool operator==(const LevelShape&) const = default;
};

/// What the table properties of all files say.
struct TreeShape {
  std::vector<LevelShape> levels;  ///< Levels that hold files.
  uint64_t num_entries = 0;
  uint64_t filter_bytes = 0;
  uint64_t data_bytes = 0;
};

/// How a pass of lookups ended.
struct Pass {
  uint64_t lookups = 0;
  double seconds = 0;
};

/// One contestant's database: fill, then open, look up, compact, look up. Every RocksDB error and
/// every wrong answer throws Failure.
class Engine {
 public:
  /// `rows` must outlive this.
  Engine(const Contestant& contestant, const Rows& rows, std::filesystem::path path,
         bool direct_reads);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Puts all rows, in the order given by `order`, into a new database and builds a tree of the
  /// shape that RocksDB's default options lead to: four files on level 0, on level 1 as many rows
  /// as these have together, on level 2 ten times as many. Every step is explicit and nothing runs
  /// in the background, so that the files of all contestants hold the same rows.
  /// Returns seconds. Leaves the database closed.
  double Fill(const std::vector<uint32_t>& order);

  /// Everything into one level. Returns seconds. Leaves the database closed.
  double CompactAll();

  /// Reopens with empty caches.
  void Open(Temperature temperature);
  void Close();

  /// REQUIRES: open.
  TreeShape Shape();

  /// Looks every row up and compares its value. Warms the cache. REQUIRES: open.
  void VerifyAllRows();

  /// Looks `keys.present` or `keys.absent` up, in order, until the end or until `max_seconds`
  /// passed, but at least 100 keys. With `counters`, adds what RocksDB counted; without, RocksDB
  /// counts nothing. REQUIRES: open.
  Pass LookUpPresent(const LookupKeys& keys, double max_seconds, Counters* counters);
  Pass LookUpAbsent(const LookupKeys& keys, double max_seconds, Counters* counters);

 private:
  rocksdb::Options MakeOptions(Temperature temperature) const;
  void OpenWith(const rocksdb::Options& options);
  void Check(const rocksdb::Status& status, std::string_view what) const;
  void CheckPresent(size_t row, rocksdb::PinnableSlice& value);
  void CheckAbsent(const std::string& key, rocksdb::PinnableSlice& value);

  template <class LookUpOne>
  Pass Run(size_t num_keys, bool present, double max_seconds, Counters* counters,
           LookUpOne look_up_one);

  const Contestant contestant_;
  const Rows& rows_;
  const std::filesystem::path path_;
  const bool direct_reads_;
  const std::shared_ptr<const rocksdb::FilterPolicy> policy_;
  const std::shared_ptr<rocksdb::Statistics> statistics_;
  std::unique_ptr<rocksdb::DB> db_;
};

}  // namespace blocksieve::bench::read_amp
