#pragma once

#include <vector>

#include "lib/lsm/rate_allocation.h"

// FPRs for a tree that changes: AllocateRates, with rules that limit the cost of files that outlive
// the level shape for which their filters were planned.

namespace blocksieve {

/// FPRs of one file.
struct FilterRates {
  double target_fpr = 1;  ///< 1: no filter.
  double range_fpr = 1;   ///< Only with a seek_fraction.
};

/// FPRs of a tree.
struct TreeRates {
  std::vector<FilterRates> levels;  ///< By level number.
  bool is_reached = true;           ///< See RateAllocation.
};

/// FPRs by level, for a tree that compactions keep changing. `levels[i]` describes level i; a level
/// without files has no runs. Differs from AllocateRates:
///
/// * An empty level 0 is planned with one file, of a quarter of the keys of the smallest level.
/// * Each level has at least 1/32 of the lookups, because their distribution may change.
/// * No file gets an FPR below 1/512 of the tree's wasted reads, or more than 30 bits per key. Some
///   files always move to deeper levels without being rewritten, and all do if keys ascend; this
///   limits what their filters cost there.
/// * Range filters and prefixes are parts of point filters. With a seek_fraction every level has
///   filters; with `has_prefixes` too, unless bits_per_key leaves no memory for some.
///
/// REQUIRES: `levels` is not empty. Errors: as AllocateRates.
Result<TreeRates> AllocateByLevel(std::vector<RunGroup> levels, const RateGoal& goal,
                                  bool has_prefixes = false);

/// FPRs for a file that will be written to `level`; -1: unknown, planned as the level with the
/// largest runs. An empty level gets a run like those of level 0. REQUIRES: level < levels.size().
/// Errors: as AllocateRates.
Result<FilterRates> AllocateForFile(std::vector<RunGroup> levels, int level, const RateGoal& goal,
                                    bool has_prefixes = false);

}  // namespace blocksieve
