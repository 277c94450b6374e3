#pragma once

#include <cstdint>

#include "bench/scale/results.h"

namespace blocksieve::bench::scale {

/// Times the analysis of the skip indexes of `num_files` files of kKeysPerFile rows, in granules of
/// the default size, for one value of a column of which every row has another. Open indexes, in
/// memory. Throws Failure.
AnalysisResult MeasureAnalysis(uint64_t num_files);

}  // namespace blocksieve::bench::scale
