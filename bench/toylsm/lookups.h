#pragma once

#include <cstdint>
#include <filesystem>

#include "bench/support/rows.h"
#include "bench/support/terminal.h"
#include "bench/toylsm/results.h"

namespace blocksieve::bench::toy {

/// Writes the rows once per set-up of key filters and looks keys up. Adds to `results.lookups`.
/// Throws Failure on any wrong answer, and if the engine's counts do not add up.
void MeasureLookups(const Rows& rows, const LookupKeys& keys, uint64_t seed,
                    const std::filesystem::path& db_dir, Progress& progress, Results& results);

}  // namespace blocksieve::bench::toy
