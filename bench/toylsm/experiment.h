#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>

#include "bench/support/dataset.h"
#include "bench/support/rows.h"
#include "bench/support/terminal.h"
#include "bench/toylsm/results.h"

namespace blocksieve::bench::toy {

/// How much is measured.
struct Effort {
  uint64_t lookups = 200'000;  ///< Of absent and of present keys, each.
  size_t queries = 100;        ///< Values that each column is asked for.
};

/// Looks keys up and scans. Throws Failure on any error and any wrong answer.
Results RunExperiment(const Dataset& dataset, const Effort& effort, uint64_t seed,
                      const std::filesystem::path& db_dir, Progress& progress);

/// Its first part, in lookups.cc: writes the rows once per set-up of key filters and looks keys up.
/// Adds to `results.lookups`. Throws Failure also if the engine's counts do not add up.
void MeasureLookups(const Rows& rows, const LookupKeys& keys, uint64_t seed,
                    const std::filesystem::path& db_dir, Progress& progress, Results& results);

}  // namespace blocksieve::bench::toy
