#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <optional>
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

/// What filters must not exceed.
struct PlanLimit {
  std::optional<uint64_t> memory = std::nullopt;      ///< Bytes of all filters.
  std::optional<double> wasted_reads = std::nullopt;  ///< Per lookup of an absent key.

  bool Allows(const Forest& forest, const Plans& plans) const;
};

// Plans for all column families. All REQUIRE a column family and one limit. They fail if no filters
// meet the limit.

/// The same goal for all, without a limit.
Result<Plans> PlanForGoal(const Forest& forest, const RateGoal& goal);

/// Fewest wasted reads for the memory, or least memory for the reads. `kind` is for a limit of
/// memory alone.
Result<Plans> PlanByLevel(const Forest& forest, const PlanLimit& limit,
                          FilterKind kind = FilterKind::kAuto);

/// Least memory with at most these wasted reads. Unlike PlanByLevel, counts the actual filters of
/// files, which waste a little less than their goal.
Result<Plans> PlanForSameReads(const Forest& forest, double wasted_reads);

/// One rate for all files: the lowest for the memory, or the highest for the reads.
Result<Plans> PlanForOneRate(const Forest& forest, const PlanLimit& limit);

}  // namespace blocksieve::cli
