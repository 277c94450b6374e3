#pragma once

#include <cstddef>
#include <filesystem>

#include "bench/skip/results.h"
#include "bench/support/dataset.h"
#include "bench/support/progress.h"

namespace blocksieve::bench::skip {

/// Fills databases with all rows, in random order, flushes and compacts them: with an index of one
/// column, of default options, and with none, by turns, and each first every other time.
WriteCostResult MeasureWriteCost(const Dataset& dataset, size_t column, unsigned rounds,
                                 uint64_t seed, const std::filesystem::path& db_dir,
                                 Progress& progress);

}  // namespace blocksieve::bench::skip
