#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lib/classic/layout.h"

namespace blocksieve::internal {

/// Filters with similar numbers of values, which share one size and are transposed together.
struct SizeClass {
  uint64_t num_bits = 0;      ///< Size of each filter: that of the largest.
  uint64_t max_values = 0;    ///< Maximum in one filter.
  uint64_t num_granules = 0;  ///< Filters in the class.
};

/// More than the optimum for counts that span five orders of magnitude.
inline constexpr size_t kMaxSizeClasses = 32;

/// Divides filters of `counts` values into 1 to kMaxSizeClasses classes, in ascending order, with
/// the smallest total: bits of filters, of the map from granules to classes, and a charge per class
/// for its probe time. A filter belongs to the first class with max_values >= its count.
std::vector<SizeClass> ChooseSizeClasses(std::span<const uint64_t> counts,
                                         const FilterSizer& sizer);

}  // namespace blocksieve::internal
