#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "blocksieve/rate_allocation.h"
#include "integration/cli/database/filter_setting.h"
#include "integration/cli/database/sorted_runs.h"

// The filters that blocksieve would build for the files of a database, for each way to ask for
// them.

namespace blocksieve::cli {

struct LevelFilters {
  int level = 0;
  FilterKind kind = FilterKind::kRibbon;
  double target_fpr = 1;  ///< 1: no filter.
};

/// A file whose filter would differ from what it is.
struct FilterChange {
  const FileReport* file = nullptr;  ///< Not owned.
  size_t run = 0;                    ///< Its place in the list of runs.
  double fpr = 1;                    ///< To expect of the new filter.
  uint64_t filter_bytes = 0;         ///< Of the new filter.
};

struct FilterPlan {
  FilterSetting setting;
  std::vector<LevelFilters> levels;  ///< Those that have runs.
  /// By run, the rate to expect: lines and segments that are not full make it lower.
  std::vector<double> fprs;
  bool is_reached = true;     ///< As in TreeRates.
  uint64_t filter_bytes = 0;  ///< Of all files, footers included.

  std::vector<FilterChange> changes;
  uint64_t rewritten_bytes = 0;  ///< Of the files to be changed.
  uint64_t rewritten_keys = 0;   ///< To be hashed.
};

/// What filters are planned for.
struct PlannedTree {
  const RunList& list;  ///< Not owned.

  /// Of all filters; nothing: by kind=auto.
  std::optional<FilterKind> kind = std::nullopt;

  /// Files are rewritten where they are: what a flush wrote gets the filter of a compaction.
  bool by_rewriting = false;
};

// REQUIRES of all of these: there is a run, and it has a key.

/// The filters that the policy builds for a goal.
Result<FilterPlan> PlanForGoal(const PlannedTree& tree, const RateGoal& goal);

/// The fewest wasted reads within so many bytes. Fails, saying why, if that is too little for any
/// filter.
Result<FilterPlan> PlanForMemory(const PlannedTree& tree, uint64_t filter_bytes);

/// The least memory with at most `wasted_reads` per lookup of an absent key. Fails if no filters
/// waste so few.
Result<FilterPlan> PlanForWastedReads(const PlannedTree& tree, double wasted_reads);

/// The same by the filters that files would really have, which waste a little less than their goal
/// says.
Result<FilterPlan> PlanForSameReads(const PlannedTree& tree, double wasted_reads);

/// The lowest rate, the same for all files, within so many bytes. Fails like PlanForMemory.
Result<FilterPlan> PlanForOneRate(const PlannedTree& tree, uint64_t filter_bytes);

/// The highest rate, the same for all files, that wastes at most so many reads. Fails if there is
/// none.
Result<FilterPlan> PlanForOneRateOfReads(const PlannedTree& tree, double wasted_reads);

}  // namespace blocksieve::cli
