#pragma once

#include <cstdint>
#include <string>

#include "bench/support/results.h"

namespace blocksieve::bench::skip {

/// An index of `num_granules` granules of this many random values each, at a target FPR of 1 %.
/// Throws Failure.
std::string BuildIndex(uint64_t num_granules, uint64_t distinct_values, uint64_t seed);

/// Times the analysis of a skip index for one value, absent or not, and that of separate filters
/// of the same size and contents, at a target FPR of 1 %. New values each time, so that filters
/// come from where they are: caches for few, memory for many. Throws Failure if a value that a
/// granule has is not found in it.
void MeasureAnalysis(uint64_t num_granules, uint64_t distinct_values, uint64_t seed, double seconds,
                     Results& results);

/// Bytes of memory that it takes, at most.
uint64_t AnalysisMemory(uint64_t num_granules, uint64_t distinct_values);

}  // namespace blocksieve::bench::skip
