#pragma once

#include <rocksdb/env.h>
#include <rocksdb/listener.h>
#include <rocksdb/metadata.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "blocksieve/tree.h"

namespace blocksieve::rocksdb_plugin {

using Levels = std::vector<TreeLevel>;  ///< By level number.

/// The files of a column family as a tree. Assumes that lookups are distributed like the keys, and
/// that they check every run if keys are not in byte order or no file is known to have keys.
Tree TreeOf(const rocksdb::ColumnFamilyMetaData& column_family);

/// The levels of a column family: the current ones, or, if `compaction` is of this column family,
/// those after it, with its input already on the output level.
Levels LevelsOf(const rocksdb::ColumnFamilyMetaData& column_family,
                const rocksdb::CompactionJobInfo* compaction);

/// Identifies a column family in a filter policy. The info log identifies the database: it is all
/// that RocksDB passes to a policy.
using ColumnFamilyKey = std::pair<const rocksdb::Logger*, std::string>;

/// How often lookups check the levels of a column family, from RocksDB's samples: it counts one in
/// 1,024 reads of each file, in memory, whatever the filter answers. Not thread-safe.
class ReadSamples {
 public:
  /// Adds the reads since the last call. Reads of files deleted since are lost, so call it when
  /// flushes and compactions begin.
  void Add(const rocksdb::ColumnFamilyMetaData& column_family);

  /// Sets the lookup share of each level relative to the most checked level; level 0 is averaged
  /// over its files. Does nothing while there are too few samples.
  void SetShares(Levels* levels) const;

 private:
  std::map<uint64_t, uint64_t> counts_;  // by file number
  std::vector<double> checked_;          // recent samples, by level
};

/// The levels of all column families of this process that have a listener. Thread-safe. Forgets a
/// database when its info log is destroyed, as the next log may have the same address.
class LevelRegistry {
 public:
  static LevelRegistry& Instance();

  /// Reads the sizes of all levels before files are built: the current ones or, with `compaction`,
  /// those after it. Does nothing if it has just read them.
  void Refresh(rocksdb::DB* db, const rocksdb::CompactionJobInfo* compaction);

  /// Replaces the levels of one column family.
  void Replace(const std::shared_ptr<const rocksdb::Logger>& database, const std::string& family,
               Levels levels);
  std::optional<Levels> Get(const ColumnFamilyKey& column_family) const;

 private:
  using Clock = std::chrono::steady_clock;
  using ByColumnFamily = std::map<std::string, Levels>;

  struct Database {
    std::weak_ptr<const rocksdb::Logger> log;
    ByColumnFamily levels;
    std::map<std::string, ReadSamples> samples;  // by column family
    Clock::time_point next_refresh;              // earliest time to read the sizes again
  };

  /// REQUIRES: the mutex is held
  Database& Find(const std::shared_ptr<const rocksdb::Logger>& log);

  mutable std::mutex mutex_;
  std::map<const rocksdb::Logger*, Database> databases_;
};

}  // namespace blocksieve::rocksdb_plugin
