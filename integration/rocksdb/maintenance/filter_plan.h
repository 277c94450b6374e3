#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "integration/rocksdb/maintenance/sorted_runs.h"
#include "lib/lsm/rate_allocation.h"

// The filters that the policy would build for the files of a column family.

namespace blocksieve::rocksdb_plugin {

struct LevelFilters {
  int level = 0;
  FilterKind kind = FilterKind::kRibbon;
  double target_fpr = 1;  ///< 1: no filter.
};

/// A file whose filter would change.
struct FilterChange {
  const FileReport* file = nullptr;  ///< Not owned.
  size_t run = 0;                    ///< Index of its run in the list.
  double fpr = 1;                    ///< Predicted, of the new filter.
  uint64_t filter_bytes = 0;         ///< Size of the new filter.
};

struct FilterPlan {
  RateGoal goal;
  std::vector<LevelFilters> levels;  ///< Levels that have runs.
  /// Predicted rate by run; partly filled lines and segments make it lower than the target.
  std::vector<double> fprs;
  bool is_reached = true;     ///< As in TreeRates.
  uint64_t filter_bytes = 0;  ///< Filters of all files, with footers.

  std::vector<FilterChange> changes;
  uint64_t rewritten_bytes = 0;  ///< Bytes of the files in `changes`.
  uint64_t rewritten_keys = 0;   ///< Keys of the files in `changes`.
};

/// The input of a plan.
struct PlannedTree {
  const RunList& list;  ///< Not owned.

  /// Kind of all filters; nullopt: kind=auto.
  std::optional<FilterKind> kind = std::nullopt;

  bool has_prefixes = false;

  /// Prefixes take their bits from those of keys, as under bits_per_key.
  bool shares_bits = false;

  /// Files are rewritten in place: flushed files get the filter of a compaction.
  bool by_rewriting = false;
};

/// The filters that the policy would build for a goal. REQUIRES: a run has keys.
Result<FilterPlan> PlanForGoal(const PlannedTree& tree, const RateGoal& goal);

}  // namespace blocksieve::rocksdb_plugin
