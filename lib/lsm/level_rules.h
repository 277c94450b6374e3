#pragma once

#include <vector>

#include "blocksieve/rate_allocation.h"

// Rates of a tree that changes: AllocateRates, and the rules that keep files cheap which outlive
// the shape that their filters were made for.

namespace blocksieve {

/// Rates of the filters of one file.
struct FilterRates {
  double target_fpr = 1;  ///< 1: build no filter.
  double range_fpr = 1;   ///< Only with a share of seeks.
};

/// Rates of the filters of a tree.
struct TreeRates {
  std::vector<FilterRates> levels;  ///< By number of the level.
  bool is_reached = true;           ///< As in RateAllocation.
};

/// Rates by level, for a tree that compactions keep changing. `levels[i]` describes level i; a
/// level without files has no runs. Unlike AllocateRates:
///
/// * An empty level 0 is about to get a file, which has a quarter of the keys of the smallest
///   level.
/// * No level counts for less than 1/32 of the lookups: they may go elsewhere tomorrow.
/// * No file gets a rate below 1/512 of the wasted reads of the tree, or more than 30 bits per key.
///   Some files always move to deeper levels without being rewritten, and all do if keys ascend;
///   this limits what their filters cost there.
/// * Filters for ranges are parts of filters for points, so with a share of seeks no level goes
///   without.
///
/// REQUIRES: `levels` is not empty. Errors: as AllocateRates.
Result<TreeRates> AllocateByLevel(std::vector<RunGroup> levels, const RateGoal& goal);

/// Rates for a file that is about to be written to `level`; -1: unknown, and taken for the level
/// with the largest runs. If the level is empty, it begins as a run like those of level 0.
/// REQUIRES: level < levels.size(). Errors: as AllocateRates.
Result<FilterRates> AllocateForFile(std::vector<RunGroup> levels, int level, const RateGoal& goal);

}  // namespace blocksieve
