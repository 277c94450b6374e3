#pragma once

#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>

#include <atomic>
#include <map>
#include <mutex>

#include "blocksieve/filter_kind.h"
#include "blocksieve/rocksdb/filter_policy.h"
#include "integration/rocksdb/levels/known_shapes.h"

namespace blocksieve::rocksdb_plugin {

/// Chooses the false-positive rate of each file so that filters take memory where it saves reads.
///
/// A LevelListener reports the shape of the tree. Without one, a model replaces it: each level is
/// `size_ratio` times as large as the one above, and the last level is the deepest that a file was
/// built for. Thread-safe.
class LevelRates {
 public:
  /// Takes the size ratio and the kind of levels from the options of a database. RocksDB does not
  /// say which database they belong to: a policy that serves several goes by the last one opened.
  void Learn(const rocksdb::ColumnFamilyOptions& column_family);

  /// What the filters of one file get.
  struct Rates {
    double target_fpr = 1;  ///< 1: it should have no filter.
    double range_fpr = 1;   ///< Only of options with ranges.
  };

  /// Throws std::bad_alloc. REQUIRES: `options` are valid and have either wasted_reads or
  /// bits_per_key.
  Rates RatesOf(const FilterPolicyOptions& options, const rocksdb::FilterBuildingContext& context);

 private:
  ColumnFamilyShape ShapeFor(const rocksdb::FilterBuildingContext& context);
  ColumnFamilyShape ModelFor(const rocksdb::FilterBuildingContext& context);
  int LastLevel(const rocksdb::FilterBuildingContext& context);

  std::atomic<double> size_ratio_ = 10;  // RocksDB's default
  std::atomic<bool> has_dynamic_levels_ = false;

  std::mutex mutex_;
  std::map<ColumnFamilyKey, int> last_levels_;
};

/// The kind of filter that a file gets. `is_short_lived`: the next compaction rewrites the file.
FilterKind KindOfFile(PolicyKind kind, bool is_short_lived);

/// The most precise rate that a file gets by these options, in a tree that wastes so many reads per
/// lookup.
double LeastRate(FilterKind kind, double wasted_reads);

/// Whether the file is the output of a flush and will be compacted.
bool IsShortLived(const rocksdb::FilterBuildingContext& context);

}  // namespace blocksieve::rocksdb_plugin
