#pragma once

#include <cstdint>
#include <vector>

#include "bench/ranges/key_sets.h"
#include "bench/ranges/questions.h"
#include "bench/ranges/results.h"

namespace blocksieve::bench::ranges {

/// The rate for which sizes and speeds of filters are compared.
inline constexpr double kComparedRangeFpr = 0.015;

/// Builds a filter of all keys `turns` times, with ranges and without, and asks it. Throws Failure
/// if it denies a range that holds a key.
FilterResult MeasureFilter(const KeySet& set, const std::vector<Question>& questions,
                           unsigned turns);

/// Filters of a few keys: of all parts of the set, as a small file has them, and of neighbours, as
/// a partition has them.
std::vector<FixedBytesResult> MeasureSmallFilters(const KeySet& set);

}  // namespace blocksieve::bench::ranges
