#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "bench/skip/results.h"
#include "bench/support/dataset.h"
#include "bench/support/terminal.h"

// What it costs a database to have skip indexes while nobody scans: by where they are.

namespace blocksieve::bench::skip {

/// Of databases with the same rows: without an index, with all indexes in the table properties, and
/// with those in files beside the SSTs for which that is the default. Lookups are by turns.
std::vector<CarrierResult> MeasureCarriers(const Dataset& dataset, unsigned rounds,
                                           size_t num_lookups, uint64_t seed,
                                           const std::filesystem::path& db_dir, Progress& progress);

}  // namespace blocksieve::bench::skip
