#pragma once

#include <rocksdb/listener.h>

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "integration/rocksdb/levels/read_samples.h"

namespace blocksieve::rocksdb_plugin {

/// Updates KnownLevels before files are built.
class LevelListener : public rocksdb::EventListener {
 public:
  void OnFlushBegin(rocksdb::DB* db, const rocksdb::FlushJobInfo& flush) override;
  void OnCompactionBegin(rocksdb::DB* db, const rocksdb::CompactionJobInfo& compaction) override;

 private:
  using Clock = std::chrono::steady_clock;

  // Reads the sizes of all levels as they are or, with `compaction`, as it will leave them.
  void Refresh(rocksdb::DB* db, const rocksdb::CompactionJobInfo* compaction);

  using Database = std::weak_ptr<const rocksdb::Logger>;

  std::mutex mutex_;
  // When the sizes of each database, known by its info log, may be read again.
  std::map<Database, Clock::time_point, std::owner_less<>> next_refresh_;
  // By column family.
  std::map<Database, std::map<std::string, ReadSamples>, std::owner_less<>> samples_;
};

}  // namespace blocksieve::rocksdb_plugin
