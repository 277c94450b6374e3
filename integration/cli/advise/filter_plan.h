#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "integration/cli/advise/run_coverage.h"
#include "integration/cli/engine/engine.h"
#include "integration/cli/engine/filter_setting.h"

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
  uint64_t filter_bytes = 0;  ///< Of all files, footers included.

  std::vector<FilterChange> changes;
  uint64_t rewritten_bytes = 0;  ///< Of the files to be changed.
  uint64_t rewritten_keys = 0;   ///< To be hashed.
};

/// What filters are planned for. The runs are not owned.
struct PlannedTree {
  const std::vector<SortedRun>& runs;

  /// Whose policy spreads memory over the levels, by rules of its own; not owned. Null: none.
  const Engine* engine = nullptr;

  /// Of all filters; nothing: by kind=auto.
  std::optional<FilterKind> kind = std::nullopt;

  /// Files are rewritten where they are: what a flush wrote gets the filter of a compaction.
  bool by_rewriting = false;

  /// By run, the shares of the lookups that the policy goes by; empty: all lookups ask all runs.
  std::vector<double> shares = {};
};

// REQUIRES of all of these: there is a run, and it has a key.

/// The fewest wasted reads within so many bytes. Fails, saying why, if that is too little for any
/// filter.
Result<FilterPlan> PlanForMemory(const PlannedTree& tree, uint64_t filter_bytes);

/// The fewest wasted reads with so many bits per key.
Result<FilterPlan> PlanForBitsPerKey(const PlannedTree& tree, double bits_per_key);

/// The least memory with at most so many wasted reads per lookup of an absent key.
Result<FilterPlan> PlanForWastedReads(const PlannedTree& tree, double wasted_reads);

/// The same, but as the lookups of this coverage waste them, whatever the policy knows of it.
Result<FilterPlan> PlanForSameReads(const PlannedTree& tree, const RunCoverage& coverage,
                                    double wasted_reads);

/// The lowest rate, the same for all files, within so many bytes. Fails like PlanForMemory.
Result<FilterPlan> PlanForOneRate(const PlannedTree& tree, uint64_t filter_bytes);

/// The highest rate, the same for all files, that wastes at most so many reads. Fails if there is
/// none.
Result<FilterPlan> PlanForOneRateOfReads(const PlannedTree& tree, const RunCoverage& coverage,
                                         double wasted_reads);

/// What a database that has these options is on its way to.
Result<FilterPlan> PlanForAsked(const PlannedTree& tree, const AskedRates& asked);

}  // namespace blocksieve::cli
