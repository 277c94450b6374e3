#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rocksdb {
class Logger;
}

namespace blocksieve::rocksdb_plugin {

/// How many keys the sorted runs of a column family have.
struct ColumnFamilyShape {
  double level0_runs = 0;
  double keys_per_level0_run = 0;  ///< On average. 0: not known.
  std::vector<double> level_keys;  ///< By level, each of them one run. Entry 0 is not used.

  /// By level, the share of the lookups that ask it, 0 to 1; of level 0, each of its runs. 1 for
  /// levels behind the end.
  std::vector<double> level_shares = {};

  double ShareOf(size_t level) const {
    return level < level_shares.size() ? level_shares[level] : 1;
  }

  bool IsEmpty() const;
};

/// Identifies a column family to a filter policy. The info log stands for the database: RocksDB
/// tells a policy nothing else about it.
using ColumnFamilyKey = std::pair<const rocksdb::Logger*, std::string>;

/// The shapes that listeners have reported, of all column families in this process. Thread-safe.
///
/// A database is forgotten when its info log is destroyed: the next log may lie at the same
/// address.
class KnownShapes {
 public:
  using ByColumnFamily = std::map<std::string, ColumnFamilyShape>;

  static KnownShapes& Instance();

  /// Replaces all shapes of a database: column families that are not in `shapes` are forgotten.
  void Set(const std::shared_ptr<const rocksdb::Logger>& database, ByColumnFamily shapes);
  std::optional<ColumnFamilyShape> Get(const ColumnFamilyKey& column_family) const;

 private:
  struct Database {
    std::weak_ptr<const rocksdb::Logger> log;
    ByColumnFamily shapes;
  };

  mutable std::mutex mutex_;
  std::map<const rocksdb::Logger*, Database> databases_;
};

}  // namespace blocksieve::rocksdb_plugin
