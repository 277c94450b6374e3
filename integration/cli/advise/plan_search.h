#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "blocksieve/tree.h"
#include "integration/cli/database/table/table_file.h"

// The column families of a database, and searches for the filters that blocksieve would build for
// them within a limit.

namespace blocksieve::cli {

/// The column families of a database that have keys.
struct Forest {
  std::vector<FileReport> files;
  std::vector<Tree> trees;  ///< As BuildTrees makes them of `files`.

  uint64_t num_keys() const;
  size_t num_runs() const;
};

/// The plans for all column families, one for each tree.
using Plans = std::vector<FilterPlan>;

/// The sum of a member over the plans.
uint64_t AddUp(const Plans& plans, uint64_t FilterPlan::*member);

/// A level with runs.
struct ForestLevel {
  size_t tree = 0;  ///< Number in the forest.
  int number = 0;   ///< -1: unknown.
  std::span<const TreeRun> runs;
  size_t first_run = 0;     ///< Number of its first run in the forest.
  uint64_t num_keys = 0;    ///< Of all its runs.
  double lookup_share = 0;  ///< Of the column family's lookups, for each run.

  size_t index() const { return static_cast<size_t>(std::max(number, 0)); }
  const TreeLevel& In(const Plans& plans) const { return plans[tree].levels[index()]; }
  const FilterRates& RatesIn(const Plans& plans) const { return plans[tree].rates.levels[index()]; }
};

/// All levels that have runs, those of one tree after those of another.
std::vector<ForestLevel> ListLevels(const Forest& forest);

// Plans for all column families. All REQUIRE a column family.

/// The same goal for all.
Result<Plans> PlanForGoal(const Forest& forest, const RateGoal& goal);

/// Fewest wasted reads within `filter_bytes`. Fails if that is too little for any filter.
Result<Plans> PlanForMemory(const Forest& forest, uint64_t filter_bytes,
                            FilterKind kind = FilterKind::kAuto);

/// Least memory with at most `wasted_reads` per lookup of an absent key. Fails if that is too few.
Result<Plans> PlanForWastedReads(const Forest& forest, double wasted_reads);

/// The same, but counts the actual filters of files, which waste a little less than their goal.
Result<Plans> PlanForSameReads(const Forest& forest, double wasted_reads);

/// Lowest rate for all files within `filter_bytes`. Fails like PlanForMemory.
Result<Plans> PlanForOneRate(const Forest& forest, uint64_t filter_bytes);

/// Highest rate for all files that wastes at most `wasted_reads`. Fails if there is none.
Result<Plans> PlanForOneRateOfReads(const Forest& forest, double wasted_reads);

}  // namespace blocksieve::cli
