#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>

#include "bench/support/dataset.h"
#include "bench/support/progress.h"
#include "bench/toylsm/results.h"

namespace blocksieve::bench::toy {

/// Scans for values of each column, with the value index and without, of a tree of several levels,
/// of the same compacted, and after a fifth of the rows was written anew. Adds to `results.scans`.
/// Throws Failure on any wrong answer.
void MeasureScans(const Dataset& dataset, size_t num_queries, uint64_t seed,
                  const std::filesystem::path& db_dir, Progress& progress, Results& results);

}  // namespace blocksieve::bench::toy
