#pragma once

#include <rocksdb/env.h>
#include <rocksdb/listener.h>
#include <rocksdb/metadata.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

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
class KnownLevels {
 public:
  using ByColumnFamily = std::map<std::string, lsm::Levels>;

  static KnownLevels& Instance();

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

}  // namespace blocksieve::rocksdb_plugin
