#pragma once

#include <optional>
#include <vector>

#include "integration/cli/engine/asked_rates.h"
#include "integration/cli/engine/table_file.h"

namespace blocksieve::cli {

/// For each file, the level that its filter was built for if that is another one than it is on;
/// it was moved there without being rewritten.
///
/// Filters do not say what level they were built for, but where memory is spread over the levels
/// (wasted_reads, bits_per_key), small levels have precise filters and large ones coarse ones. So
/// the rates that the levels should have are computed: from their sizes and what the options ask
/// for, or if that is not known, from the bits per key that the filters have on average. A file was
/// built for another level if its filter is by kMovedBits (log2 of the rate) or more too precise
/// for its own: for the one above it whose rate is nearest.
///
/// Where the options say kind=auto, a Bloom filter is of a flush, built for level 0 whatever its
/// rate, and a ribbon is not.
///
/// Nothing is said of filters that are not blocksieve's, and of column families where all files
/// have the same rate, by their options or by their looks.
std::vector<std::optional<int>> LevelsBuiltFor(const std::vector<FileReport>& files,
                                               const AskedRatesByFamily& asked);

/// Between levels a rate differs by log2 of the ratio of their sizes: 3.3 bits if that is 10, 2 if
/// it is 4. Less than this is the difference that a level makes by growing.
inline constexpr double kMovedBits = 1.5;

}  // namespace blocksieve::cli
