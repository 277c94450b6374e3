#pragma once

#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>

#include <atomic>
#include <map>
#include <mutex>

#include "blocksieve/filter_kind.h"
#include "blocksieve/rocksdb/filter_policy.h"
#include "integration/rocksdb/levels/tree_shape.h"

namespace blocksieve::rocksdb_plugin {

/// Chooses the rate of each file so that the memory of filters is spent where it saves reads.
///
/// The shape of the tree is that which a LevelListener told. Without one, it is a model: each level
/// `size_ratio` times as large as that above it, and the last one is the deepest that files were
/// seen to be built for. Thread-safe.
class LevelRates {
 public:
  /// What the database is going to be, as far as its options say so. RocksDB does not say for which
  /// database, so one policy for several databases goes by the last one opened.
  void Learn(const rocksdb::ColumnFamilyOptions& column_family);

  /// The target FPR for a file; 1: it should have no filter.
  /// Throws std::bad_alloc. REQUIRES: `options` are valid and have wasted_reads or bits_per_key.
  double TargetFpr(const FilterPolicyOptions& options,
                   const rocksdb::FilterBuildingContext& context);

 private:
  TreeShape ShapeFor(const rocksdb::FilterBuildingContext& context);
  TreeShape ModelFor(const rocksdb::FilterBuildingContext& context);
  int LastLevel(const rocksdb::FilterBuildingContext& context);

  std::atomic<double> size_ratio_ = 10;  // RocksDB's default
  std::atomic<bool> has_dynamic_levels_ = false;

  std::mutex mutex_;
  std::map<ColumnFamilyKey, int> last_levels_;
};

/// Which kind of filter a file gets. `is_short_lived`: the next compaction rewrites it.
FilterKind KindOfFile(PolicyKind kind, bool is_short_lived);

/// Whether what is built is a flush whose files will be compacted.
bool IsShortLived(const rocksdb::FilterBuildingContext& context);

}  // namespace blocksieve::rocksdb_plugin
