#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "integration/cli/database/table/file_report.h"
#include "integration/rocksdb/maintenance/filter_plan.h"
#include "lib/lsm/rate_allocation.h"

// The column families of a database, and the filters that blocksieve would build for their files.

namespace blocksieve::cli {

using rocksdb_plugin::FilterPlan;
using rocksdb_plugin::LevelFilters;
using rocksdb_plugin::PlanForGoal;
using rocksdb_plugin::PlannedTree;

/// The column families of a database that have keys. Lookups are assumed to be distributed over
/// them as the keys are, as over the runs of each.
struct Forest {
  std::vector<RunList> lists;

  uint64_t num_keys() const;
  size_t num_runs() const;
  uint64_t filter_bytes() const;  ///< The sum of PointBytes.

  /// Wasted reads per lookup. `fprs`: by run, those of one list after those of another.
  double WastedReads(std::span<const double> fprs, double absent_fraction) const;
};

/// A level of a column family.
struct ForestLevel {
  const RunList* list = nullptr;  ///< Not owned.
  std::span<const SortedRun> runs;
  size_t first_run = 0;     ///< Number of its first run in the forest.
  uint64_t num_keys = 0;    ///< Of all its runs.
  double lookup_share = 0;  ///< Of the column family's lookups, for each run.
};

/// All levels that have runs, those of one list after those of another.
std::vector<ForestLevel> LevelsOf(const Forest& forest);

// Plans for all column families. The changes, rates and levels of one family follow those of
// another. All REQUIRE a column family.

/// The same goal for all.
Result<FilterPlan> PlanForGoal(const Forest& forest, const RateGoal& goal);

/// Fewest wasted reads within `filter_bytes`. Fails if that is too little for any filter.
Result<FilterPlan> PlanForMemory(const Forest& forest, uint64_t filter_bytes);

/// Least memory with at most `wasted_reads` per lookup of an absent key. Fails if that is too few.
Result<FilterPlan> PlanForWastedReads(const Forest& forest, double wasted_reads);

/// The same, but counts the actual filters of files, which waste a little less than their goal.
Result<FilterPlan> PlanForSameReads(const Forest& forest, double wasted_reads);

/// Lowest rate for all files within `filter_bytes`. Fails like PlanForMemory.
Result<FilterPlan> PlanForOneRate(const Forest& forest, uint64_t filter_bytes);

/// Highest rate for all files that wastes at most `wasted_reads`. Fails if there is none.
Result<FilterPlan> PlanForOneRateOfReads(const Forest& forest, double wasted_reads);

/// CPU cost of filters, measured by building and probing a few in memory with the active kernel.
struct FilterCost {
  double build_ns_per_key = 0;  ///< CPU time to hash a key and build its part of the filter.
  double probe_ns = 0;          ///< To probe one filter, in the CPU cache, for an absent key.
};

/// Measured costs by kind and rate.
using KnownCosts = std::map<std::pair<FilterKind, double>, FilterCost>;

/// Mean cost of the filters of a plan, weighted by keys for building and by lookups for probing. 0
/// without filters. Takes tens of milliseconds for each kind and rate not in `known`.
FilterCost CostOf(const FilterPlan& plan, const Forest& forest, KnownCosts* known);

}  // namespace blocksieve::cli
