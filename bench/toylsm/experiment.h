#pragma once

#include <cstddef>
#include <cstdint>

#include "bench/support/dataset.h"
#include "bench/support/job.h"

namespace blocksieve::bench::toy {

/// Amount of measuring.
struct Effort {
  uint64_t lookups = 200'000;  ///< Lookups of absent keys, and as many of present ones.
  size_t queries = 100;        ///< Scans of each column, each for one value.
};

/// Writes the rows once per configuration of key filters and looks up keys. Throws Failure on any
/// error, any wrong answer, and if the engine's counts do not add up.
void MeasureLookups(const Dataset& dataset, const Effort& effort, Job& job);

/// Scans for values of each column, with the skip index and without: of a tree of several levels,
/// after its compaction, and after a fifth of the rows was rewritten. Throws Failure on any error
/// and any wrong answer.
void MeasureScans(const Dataset& dataset, const Effort& effort, Job& job);

}  // namespace blocksieve::bench::toy
