#pragma once

#include <vector>

#include "bench/ranges/range_queries.h"
#include "bench/support/results.h"

namespace blocksieve::bench::ranges {

/// The rate for which sizes and speeds of filters are compared.
inline constexpr double kComparedRangeFpr = 0.015;

/// Builds a filter of all keys `turns` times, with ranges and without, and probes it; then small
/// filters, of keys of all parts of the set, as a small file has them, and of neighbours, as a
/// partition has them. Throws Failure if a filter denies a range that holds a key.
void MeasureFilter(const KeySet& set, const std::vector<RangeQueries>& queries, unsigned turns,
                   Results& results);

}  // namespace blocksieve::bench::ranges
