#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "blocksieve/sizing.h"
#include "blocksieve/status.h"

namespace blocksieve::internal {

/// The size of a classic Bloom filter with a target FPR, for any number of values, also one.
class FilterSizer {
 public:
  /// Takes the number of probes from the lookup table. Errors: those of ChooseLayout.
  static Result<FilterSizer> Create(double target_fpr);

  uint32_t num_probes() const noexcept { return num_probes_; }

  /// Bits of the smallest filter known to be at or below the target with so many values, at most
  /// two above the smallest there is; 0 for none. The largest uint64_t if it would be more.
  uint64_t BitsFor(uint64_t num_values) const noexcept;

 private:
  uint32_t num_probes_ = 0;
  double bits_per_value_ = 0;
};

/// Filters of similar numbers of values, which share one size and are transposed together.
struct SizeClass {
  uint64_t num_bits = 0;      ///< Of each filter: what the largest of them needs.
  uint64_t max_values = 0;    ///< In one filter, at most.
  uint64_t num_granules = 0;  ///< Filters in the class.
};

/// Even numbers of values over five orders of magnitude are best served by fewer.
inline constexpr size_t kMaxSizeClasses = 32;

/// Divides filters of `counts` values into at most kMaxSizeClasses classes, in ascending order,
/// such that all bits are fewest: filters, the map from granules to classes, and a charge per class
/// for the time that probing it takes. A filter belongs to the first class whose max_values it does
/// not exceed. At least one class.
std::vector<SizeClass> ChooseSizeClasses(std::span<const uint64_t> counts,
                                         const FilterSizer& sizer);

}  // namespace blocksieve::internal
