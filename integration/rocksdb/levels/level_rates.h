#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>

#include <atomic>
#include <map>
#include <mutex>

#include "blocksieve/tree.h"
#include "integration/rocksdb/levels/column_family_levels.h"

namespace blocksieve::rocksdb_plugin {

/// Chooses the FPR of each file so that filters use memory where it saves reads. A listener reports
/// the levels. Without one, a model replaces them: each level is `size_ratio` times as large as the
/// one above, and the last level is the deepest that a file was built for. Thread-safe.
class LevelRates {
 public:
  /// Learns the size ratio and the kind of levels from the options of a database. RocksDB does not
  /// say of which one, so a policy that serves several databases uses those of the last one opened.
  void Learn(const rocksdb::ColumnFamilyOptions& column_family);

  /// The rates of one file. REQUIRES: the goal is valid, and differs by run. Errors: those of
  /// AllocateRates. Throws std::bad_alloc.
  Result<FilterRates> ChooseRates(const RateGoal& goal,
                                  const rocksdb::FilterBuildingContext& context);

 private:
  Levels ModelFor(const rocksdb::FilterBuildingContext& context);
  int LastLevel(const rocksdb::FilterBuildingContext& context);

  std::atomic<double> size_ratio_ = 10;  // RocksDB's default
  std::atomic<bool> has_dynamic_levels_ = false;

  std::mutex mutex_;
  std::map<ColumnFamilyKey, int> last_levels_;
};

/// The column family of a file.
ColumnFamilyKey ToKey(const rocksdb::FilterBuildingContext& context);

/// Whether the file is the output of a flush and will be compacted.
bool IsShortLived(const rocksdb::FilterBuildingContext& context);

}  // namespace blocksieve::rocksdb_plugin
