#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "integration/cli/database/sorted_runs.h"

namespace blocksieve::cli {

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

}  // namespace blocksieve::cli
