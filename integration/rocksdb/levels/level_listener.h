#pragma once

#include <rocksdb/listener.h>

#include <chrono>
#include <map>
#include <memory>
#include <mutex>

namespace blocksieve::rocksdb_plugin {

/// Updates KnownShapes before files are built.
class LevelListener : public rocksdb::EventListener {
 public:
  void OnFlushBegin(rocksdb::DB* db, const rocksdb::FlushJobInfo& flush) override;
  void OnCompactionBegin(rocksdb::DB* db, const rocksdb::CompactionJobInfo& compaction) override;

 private:
  using Clock = std::chrono::steady_clock;

  // Reads the sizes of all levels as they are or, with `compaction`, as it will leave them.
  void Refresh(rocksdb::DB* db, const rocksdb::CompactionJobInfo* compaction);

  std::mutex mutex_;
  // When the sizes of each database, known by its info log, may be read again.
  std::map<std::weak_ptr<const rocksdb::Logger>, Clock::time_point, std::owner_less<>>
      next_refresh_;
};

}  // namespace blocksieve::rocksdb_plugin
