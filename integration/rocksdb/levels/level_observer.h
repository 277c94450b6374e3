#pragma once

#include <rocksdb/listener.h>
#include <rocksdb/metadata.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "lib/lsm/tree.h"

namespace blocksieve::rocksdb_plugin {

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

/// Updates KnownLevels before files are built. Thread-safe.
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
