#pragma once

#include <rocksdb/listener.h>

#include <chrono>
#include <map>
#include <memory>
#include <mutex>

#include "blocksieve/rocksdb/level_listener.h"

namespace blocksieve::rocksdb_plugin {

/// Sets KnownShapes before files are built.
class LevelListener final : public rocksdb::EventListener {
 public:
  static constexpr const char* kName = "blocksieve";

  const char* Name() const override { return kName; }

  void OnFlushBegin(rocksdb::DB* db, const rocksdb::FlushJobInfo& flush) override;
  void OnCompactionBegin(rocksdb::DB* db, const rocksdb::CompactionJobInfo& compaction) override;

 private:
  using Clock = std::chrono::steady_clock;

  // Reads all sizes, as they are, or as they will be after `compaction`.
  void Refresh(rocksdb::DB* db, const rocksdb::CompactionJobInfo* compaction);

  std::mutex mutex_;
  // Of each database, by its info log, when its sizes may be read again.
  std::map<std::weak_ptr<const rocksdb::Logger>, Clock::time_point, std::owner_less<>>
      next_refresh_;
};

}  // namespace blocksieve::rocksdb_plugin
