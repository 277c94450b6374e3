#pragma once

#include <rocksdb/db.h>
#include <rocksdb/env.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bench/ranges/contestants.h"
#include "bench/ranges/key_sets.h"
#include "bench/support/measure.h"

namespace blocksieve::bench::ranges {

/// Where data blocks come from. Indexes and full filters are in memory either way; partitions of
/// filters are in the block cache.
enum class Temperature {
  kCached,  ///< From a block cache that holds everything.
  kCold,    ///< From the file: no block cache, and past the page cache if the file system can.
};

/// A database of one contestant: sorted runs that nothing compacts. Errors of RocksDB and wrong
/// answers throw Failure.
class Database {
 public:
  Database(Role role, std::shared_ptr<const rocksdb::SliceTransform> prefix_extractor,
           std::filesystem::path path);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  Role role() const { return role_; }

  /// Writes each of these as a sorted run and leaves the database open, cached. Returns seconds of
  /// processor time, by run.
  std::vector<double> Fill(std::span<const std::vector<std::string>> runs);

  /// Closes it, if it is open, and opens it with nothing cached.
  void Open(Temperature temperature);

  /// Bytes of filters in all files.
  uint64_t FilterBytes();

  /// How often the info log said that a file got no range filter.
  uint64_t refusals() const;

  /// Reads all keys in the range. Returns how many there are.
  uint64_t Scan(const Range& range);

  void Put(std::string_view key);

  /// What counts: by the clock if cold, else of processor time, to which other work on the machine
  /// adds less.
  double Seconds(const Stopwatch& stopwatch) const;

  /// Nanoseconds per range of scans, of which each finds so many keys.
  double TimeScans(std::span<const Range> ranges, uint64_t keys_in_each);

  /// Nanoseconds per lookup of keys, all of which are there, or none.
  double TimeGets(std::span<const std::string> keys, bool are_present);

  /// Reads all keys once, for what is cached.
  void ReadAll();

 private:
  class Log;

  void Check(const rocksdb::Status& status, const char* what) const;

  const Role role_;
  const std::shared_ptr<const rocksdb::SliceTransform> prefix_extractor_;
  const std::filesystem::path path_;
  const std::shared_ptr<Log> log_;
  Temperature temperature_ = Temperature::kCached;
  std::unique_ptr<rocksdb::DB> db_;
};

/// Counts the data blocks that this thread asks for, read or cached, while it exists.
class BlockCount {
 public:
  BlockCount();
  ~BlockCount();
  uint64_t data_blocks() const;
};

}  // namespace blocksieve::bench::ranges
