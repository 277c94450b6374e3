#pragma once

#include <cstdint>
#include <string>

#include "bench/skip/results.h"

namespace blocksieve::bench::skip {

/// An index of `num_granules` granules of so many random values each, at a target FPR of 1 %.
/// Throws Failure.
std::string BuildIndex(uint64_t num_granules, uint64_t distinct_values, uint64_t seed);

/// Times the analysis of a skip index for one value, absent or not, and that of separate filters
/// of the same size and contents, at a target FPR of 1 %. New values each time, so that filters
/// come from where they are: caches for few, memory for many. Small indexes are also asked for IN
/// lists. Small indexes are also asked for
/// IN lists. Throws Failure if two ways of asking do not say the same of every granule.
AnalysisResult MeasureAnalysis(uint64_t num_granules, uint64_t distinct_values, uint64_t seed,
                               double seconds);

/// Bytes of memory that it takes, at most.
uint64_t AnalysisMemory(uint64_t num_granules, uint64_t distinct_values);

}  // namespace blocksieve::bench::skip
