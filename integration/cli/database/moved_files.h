#pragma once

#include <optional>
#include <vector>

#include "integration/cli/database/database.h"

namespace blocksieve::cli {

/// For each file, the level that its filter was built for, if a trivial move has taken the file to
/// another level since.
///
/// Filters do not record their level. If memory is spread over the levels (wasted_reads,
/// bits_per_key), the target rates of levels follow from their sizes and the options: small levels
/// have precise filters, large levels coarse ones. A filter too precise for its level by kMovedBits
/// (log2 of the rate) or more was built for a level above, the one with the nearest rate.
///
/// Under kind=auto, flushes build Bloom filters, for level 0 whatever their rate, and compactions
/// build ribbons.
///
/// nullopt for stock filters, and in column families with one rate or unknown options.
std::vector<std::optional<int>> LevelsBuiltFor(const std::vector<FileReport>& files,
                                               const RequestedRatesByFamily& requested);

/// Rates of adjacent levels differ by log2 of their size ratio: 3.3 bits for 10, 2 bits for 4.
/// Smaller differences than this arise when a level grows.
inline constexpr double kMovedBits = 1.5;

}  // namespace blocksieve::cli
