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
struct TreeShape {
  double level0_runs = 0;
  double keys_per_level0_run = 0;  ///< On average; 0: nothing is known.
  std::vector<double> level_keys;  ///< By level, a run each; that of level 0 is not used.

  bool IsEmpty() const;
};

/// Column families as filters are built for them: a database is known by its info log, which is all
/// that RocksDB tells a policy of it.
using ColumnFamilyKey = std::pair<const rocksdb::Logger*, std::string>;

/// The shapes of all trees in this process that a listener told of. Thread-safe.
///
/// What is known of a database is forgotten with its info log: the next log may lie at the same
/// address.
class KnownShapes {
 public:
  using ByColumnFamily = std::map<std::string, TreeShape>;

  static KnownShapes& Instance();

  /// All of a database: other column families are forgotten.
  void Set(const std::shared_ptr<const rocksdb::Logger>& database, ByColumnFamily shapes);
  std::optional<TreeShape> Get(const ColumnFamilyKey& column_family) const;

 private:
  struct Database {
    std::weak_ptr<const rocksdb::Logger> log;
    ByColumnFamily shapes;
  };

  mutable std::mutex mutex_;
  std::map<const rocksdb::Logger*, Database> databases_;
};

}  // namespace blocksieve::rocksdb_plugin
