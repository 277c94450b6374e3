#pragma once

#include <cstdint>

#include "blocksieve/status.h"

// The model of classic Bloom filters, and the layout that it gives for a false-positive rate (FPR).

namespace blocksieve::internal {

/// FPR of a classic Bloom filter with many keys: (1 - e^(-k/b))^k (Bloom, 1970; Mullin, 1983).
/// REQUIRES: bits_per_key > 0, num_probes >= 1.
double ClassicBloomFpr(double bits_per_key, uint32_t num_probes) noexcept;

/// Sizes classic Bloom filters with a target FPR for any number of keys, even one. Skip indexes
/// size the filters of their granules with it, too.
class FilterSizer {
 public:
  /// Chooses the number of bits per key (k) with which filters are smallest.
  /// Errors: InvalidArgument if the target is NaN or outside [kMinTargetFpr, kMaxTargetFpr].
  static Result<FilterSizer> Create(double target_fpr);

  uint32_t num_probes() const noexcept { return num_probes_; }

  /// Number of bits with which `num_keys` keys meet the target, at most two more than the smallest
  /// such number; 0 for no keys. Saturates at the largest uint64_t.
  uint64_t BitsFor(uint64_t num_keys) const noexcept;

  /// A number of keys for which `num_bits` bits suffice, at most one below the largest.
  /// REQUIRES: num_bits is 64 to 2^48
  uint64_t KeysIn(uint64_t num_bits) const noexcept;

 private:
  // Small filters have a higher FPR than the asymptotic formula. These bits compensate for it at
  // any number of keys; a test compares with the exact model.
  double extra_bits() const noexcept { return 0.5 + 0.25 * num_probes_; }

  uint32_t num_probes_ = 0;
  double bits_per_key_ = 0;
};

}  // namespace blocksieve::internal
