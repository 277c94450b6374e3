#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>

#include "bench/skip/results.h"
#include "bench/support/dataset.h"
#include "bench/support/terminal.h"

// What an index costs: space, and time to write it.

namespace blocksieve::bench::skip {

/// Size of the index of one file with all rows, of one column, at a target FPR of 1 %: keys, least
/// and greatest values, filters, everything.
IndexSizeResult MeasureIndexSize(const Dataset& dataset, size_t column, uint64_t granule_rows);

/// Fills databases with all rows, in random order, flushes and compacts them: with an index of one
/// column, of default options, and with none, by turns, and each first every other time.
WriteCostResult MeasureWriteCost(const Dataset& dataset, size_t column, unsigned rounds,
                                 uint64_t seed, const std::filesystem::path& db_dir,
                                 Progress& progress);

}  // namespace blocksieve::bench::skip
