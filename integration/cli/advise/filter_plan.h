#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "integration/cli/advise/run_coverage.h"

// What blocksieve would give the files of a database, for each way of asking for it.

namespace blocksieve::cli {

struct LevelFilters {
  int level = 0;
  FilterKind kind = FilterKind::kRibbon;
  double target_fpr = 1;  ///< 1: no filters.
};

struct FilterPlan {
  std::string option;  ///< "bits_per_key" or as the policy calls it.
  double value = 0;    ///< Of the option, rounded so that what was asked for is kept.

  std::vector<LevelFilters> levels;  ///< Those that have runs.
  /// By run, what is to be expected: lines and segments that are not full make it less.
  std::vector<double> fprs;
  uint64_t filter_bytes = 0;  ///< Of all files, footers included.

  /// Files whose filters would be others than they are.
  uint64_t rewritten_files = 0;
  uint64_t rewritten_bytes = 0;
  uint64_t rewritten_keys = 0;  ///< To be hashed.

  /// "bits_per_key=9.98"
  std::string setting() const;
};

/// The fewest wasted reads within so many bytes. Fails, saying why, if that is too little for any
/// filter. REQUIRES: there is a key, as in all of these.
Result<FilterPlan> PlanForMemory(const std::vector<SortedRun>& runs, uint64_t filter_bytes);

/// The fewest wasted reads with so many bits per key.
Result<FilterPlan> PlanForBitsPerKey(const std::vector<SortedRun>& runs, double bits_per_key);

/// The least memory with at most so many wasted reads per lookup of an absent key.
Result<FilterPlan> PlanForWastedReads(const std::vector<SortedRun>& runs, double wasted_reads);

/// The same, but as the lookups of this coverage waste them. The option tells the policy a larger
/// number, for it takes all lookups to ask all runs.
Result<FilterPlan> PlanForSameReads(const std::vector<SortedRun>& runs, const RunCoverage& coverage,
                                    double wasted_reads);

/// The lowest rate, the same for all files, within so many bytes. Fails as PlanForMemory.
Result<FilterPlan> PlanForOneRate(const std::vector<SortedRun>& runs, uint64_t filter_bytes);

}  // namespace blocksieve::cli
