#pragma once

#include <cstddef>
#include <cstdint>

#include "bench/skip/results.h"
#include "bench/support/dataset.h"

namespace blocksieve::bench::skip {

/// Size of the index of one file with all rows, of one column, at a target FPR of 1 %: keys, least
/// and greatest values, filters, everything.
IndexSizeResult MeasureIndexSize(const Dataset& dataset, size_t column, uint64_t granule_rows);

}  // namespace blocksieve::bench::skip
