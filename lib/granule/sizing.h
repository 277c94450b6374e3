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
  /// Takes k from the lookup table. Errors: those of ChooseLayout.
  static Result<FilterSizer> Create(double target_fpr);

  uint32_t num_probes() const noexcept { return num_probes_; }

  /// Bits of the smallest filter known to meet the target with `num_values` values, at most two
  /// more than the smallest that does; 0 for no values. Saturates at the largest uint64_t.
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

/// Even counts spread over five orders of magnitude are best served by fewer.
inline constexpr size_t kMaxSizeClasses = 32;

/// Divides filters of `counts` values into 1 to kMaxSizeClasses classes, in ascending order, so
/// that the sum of all bits is least: filters, the map from granules to classes, and a charge per
/// class for the time of probing it. A filter belongs to the first class whose max_values it does
/// not exceed.
std::vector<SizeClass> ChooseSizeClasses(std::span<const uint64_t> counts,
                                         const FilterSizer& sizer);

}  // namespace blocksieve::internal
