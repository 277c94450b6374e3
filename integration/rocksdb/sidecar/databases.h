#pragma once

#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/listener.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "integration/rocksdb/sidecar/file.h"

namespace blocksieve::rocksdb_plugin {

/// What is known of an SST when its collector is made.
struct SstOfThread {
  bool has_listener = false;
  std::optional<SstPlace> place;  ///< Nothing if a sidecar cannot be written.
};

/// Brings together what RocksDB tells apart: a listener learns where an SST is being written,
/// before a collector is made for it on the same thread; only callbacks with a database tell what
/// file system it is on. Of the process. Thread-safe.
///
/// Where the file system is not known for sure, as while a database recovers, there are no
/// sidecars: they could end up unencrypted, or elsewhere.
class SidecarDatabases {
 public:
  static SidecarDatabases& Instance();

  /// The database writes files from now on. The first time, orphans are collected.
  void Note(rocksdb::DB* db);

  /// @{
  /// As in rocksdb::EventListener.
  void OnSstStarted(const rocksdb::TableFileCreationBriefInfo& sst);
  void OnSstCreated(const rocksdb::TableFileCreationInfo& sst);
  void OnSstDeleted(const rocksdb::TableFileDeletionInfo& sst);
  /// @}

  /// What a listener told of the SST that this thread is writing. To be asked once for each SST.
  static SstOfThread TakeSstOfThread();

  /// Whether some thread is writing it.
  bool IsUnfinished(const std::string& sst_path);

 private:
  struct Database {
    std::weak_ptr<rocksdb::FileSystem> file_system;
    std::weak_ptr<rocksdb::RateLimiter> rate_limiter;
    std::weak_ptr<rocksdb::Logger> info_log;  // expires when the database is closed
  };

  /// Without a path. Nothing if the database is not known.
  std::optional<SstPlace> Find(const std::string& db_name);

  std::mutex mutex_;
  std::map<std::string, Database> databases_;
  std::set<std::string> unfinished_;  // SSTs
};

/// The directories in which a database may have SSTs, each once.
std::set<std::string> SstDirectories(rocksdb::DB* db);

/// Deletes sidecars without an SST. For processes that may write to the database.
void CollectOrphans(rocksdb::FileSystem* file_system, const std::string& directory);

}  // namespace blocksieve::rocksdb_plugin
