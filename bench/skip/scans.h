#pragma once

#include <cstdint>
#include <filesystem>

#include "bench/skip/experiment.h"
#include "bench/skip/results.h"
#include "bench/support/dataset.h"
#include "bench/support/terminal.h"

namespace blocksieve::bench::skip {

/// Fills a database for every granule size and scans it by each column, compacted and after a fifth
/// of the rows was rewritten. Adds to `results.scans`, and to `fpr_scans`.
void MeasureScans(const Dataset& dataset, const Effort& effort, uint64_t seed,
                  const std::filesystem::path& db_dir, Progress& progress, Results& results);

}  // namespace blocksieve::bench::skip
