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

#include "lib/lsm/tree.h"

namespace blocksieve::rocksdb_plugin {

/// The files of a column family as a tree. Lookups are taken to be where the keys are. They check
/// every run if the order of keys is not that of their bytes, or no file is known to have keys.
lsm::Tree TreeOf(const rocksdb::ColumnFamilyMetaData& column_family);

/// Its levels as they are, or as `compaction`, if it is one of this column family, will leave them:
/// the input counts as being on the output level already.
lsm::Levels LevelsOf(const rocksdb::ColumnFamilyMetaData& column_family,
                     const rocksdb::CompactionJobInfo* compaction);

/// Identifies a column family to a filter policy. The info log stands for the database: RocksDB
/// tells a policy nothing else about it.
using ColumnFamilyKey = std::pair<const rocksdb::Logger*, std::string>;

/// The levels that listeners have reported, of all column families in this process. Thread-safe.
///
/// A database is forgotten when its info log is destroyed: the next log may lie at the same
/// address.
class LevelRegistry {
 public:
  using ByColumnFamily = std::map<std::string, lsm::Levels>;

  static LevelRegistry& Instance();

  /// Replaces all levels of a database: column families that are not in `levels` are forgotten.
  void Set(const std::shared_ptr<const rocksdb::Logger>& database, ByColumnFamily levels);
  std::optional<lsm::Levels> Get(const ColumnFamilyKey& column_family) const;

 private:
  struct Database {
    std::weak_ptr<const rocksdb::Logger> log;
    ByColumnFamily levels;
  };

  mutable std::mutex mutex_;
  std::map<const rocksdb::Logger*, Database> databases_;
};

/// How often lookups check the levels of a column family, from RocksDB's samples: it counts one in
/// 1,024 reads of each file, in memory, whether or not a filter then says no. Not thread-safe.
class ReadSamples {
 public:
  /// Adds what was read since the last call. Reads of a file that is gone by then are lost, so call
  /// it when flushes and compactions begin.
  void Note(const rocksdb::ColumnFamilyMetaData& column_family);

  /// Sets the lookup share of each level in proportion to the level that is checked most; in level
  /// 0, each file counts. Does nothing while there are too few samples to tell.
  void SetShares(lsm::Levels* levels) const;

 private:
  std::map<uint64_t, uint64_t> counts_;  // by the number of the file
  std::vector<double> checked_;          // by level, lately
};

/// Updates LevelRegistry before files are built. Thread-safe.
class LevelObserver {
 public:
  /// Reads the sizes of all levels as they are or, with `compaction`, as it will leave them.
  void Refresh(rocksdb::DB* db, const rocksdb::CompactionJobInfo* compaction);

 private:
  using Clock = std::chrono::steady_clock;

  struct Database {
    Clock::time_point next_refresh;              // when the sizes may be read again
    std::map<std::string, ReadSamples> samples;  // by column family
  };

  std::mutex mutex_;
  // By info log.
  std::map<std::weak_ptr<const rocksdb::Logger>, Database, std::owner_less<>> databases_;
};

}  // namespace blocksieve::rocksdb_plugin
