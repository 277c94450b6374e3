#pragma once

#include <optional>
#include <vector>

#include "integration/cli/database/filter_setting.h"
#include "integration/cli/database/table/file_report.h"

namespace blocksieve::cli {

/// For each file, the level that its filter was built for, if the file has since moved to another
/// level without being rewritten.
///
/// Filters do not record their level. But where memory is spread over the levels (wasted_reads,
/// bits_per_key), small levels have precise filters and large levels coarse ones. The rates that
/// the levels should have follow from their sizes and from what the options ask for. A filter that
/// is too precise for its level by kMovedBits (log2 of the rate) or more was built for a level
/// above: the one whose rate is nearest.
///
/// Where the options say kind=auto, a Bloom filter was built by a flush, so for level 0 whatever
/// its rate, and a ribbon was not.
///
/// Nothing is said about filters that are not blocksieve's, nor about column families whose options
/// ask for the same rate in all files, or are not known.
std::vector<std::optional<int>> LevelsBuiltFor(const std::vector<FileReport>& files,
                                               const RequestedRatesByFamily& requested);

/// From level to level a rate changes by log2 of the ratio of their sizes: 3.3 bits for 10, 2 bits
/// for 4. Smaller differences than this arise when a level grows.
inline constexpr double kMovedBits = 1.5;

}  // namespace blocksieve::cli
