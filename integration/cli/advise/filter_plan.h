#pragma once

#include <cstdint>
#include <vector>

#include "integration/cli/advise/run_coverage.h"
#include "integration/cli/engine/filter_setting.h"

// The filters that blocksieve would build for the files of a database, for each way to ask for
// them.

namespace blocksieve::cli {

struct LevelFilters {
  int level = 0;
  FilterKind kind = FilterKind::kRibbon;
  double target_fpr = 1;  ///< 1: no filter.
};

struct FilterPlan {
  FilterSetting setting;
  std::vector<LevelFilters> levels;  ///< Those that have runs.
  /// By run, the rate to expect: lines and segments that are not full make it lower.
  std::vector<double> fprs;
  uint64_t filter_bytes = 0;  ///< Of all files, footers included.

  /// Files whose filters would differ from what they are.
  uint64_t rewritten_files = 0;
  uint64_t rewritten_bytes = 0;
  uint64_t rewritten_keys = 0;  ///< To be hashed.
};

// REQUIRES of all of these: there is a run, and it has a key.

/// The fewest wasted reads within so many bytes. Fails, saying why, if that is too little for any
/// filter.
Result<FilterPlan> PlanForMemory(const std::vector<SortedRun>& runs, uint64_t filter_bytes);

/// The fewest wasted reads with so many bits per key.
Result<FilterPlan> PlanForBitsPerKey(const std::vector<SortedRun>& runs, double bits_per_key);

/// The least memory with at most so many wasted reads per lookup of an absent key.
Result<FilterPlan> PlanForWastedReads(const std::vector<SortedRun>& runs, double wasted_reads);

/// The same, but as the lookups of this coverage waste them. The option gives the policy a larger
/// number, because the policy assumes that every lookup asks every run.
Result<FilterPlan> PlanForSameReads(const std::vector<SortedRun>& runs, const RunCoverage& coverage,
                                    double wasted_reads);

/// The lowest rate, the same for all files, within so many bytes. Fails like PlanForMemory.
Result<FilterPlan> PlanForOneRate(const std::vector<SortedRun>& runs, uint64_t filter_bytes);

}  // namespace blocksieve::cli
