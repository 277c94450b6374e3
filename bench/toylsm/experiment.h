#pragma once

#include <cstddef>
#include <cstdint>

#include "bench/support/dataset.h"
#include "bench/support/job.h"

namespace blocksieve::bench::toy {

/// How much is measured.
struct Effort {
  uint64_t lookups = 200'000;  ///< Of absent and of present keys, each.
  size_t queries = 100;        ///< Values that each column is scanned for.
};

/// Writes the rows once per set-up of key filters and looks keys up. Throws Failure on any error,
/// any wrong answer, and if the engine's counts do not add up.
void MeasureLookups(const Dataset& dataset, const Effort& effort, Job& job);

/// Scans for values of each column, with the skip index and without: a tree of several levels, the
/// same compacted, and after a fifth of the rows was written anew. Throws Failure on any error and
/// any wrong answer.
void MeasureScans(const Dataset& dataset, const Effort& effort, Job& job);

}  // namespace blocksieve::bench::toy
