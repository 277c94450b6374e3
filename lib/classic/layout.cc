// SPDX-License-Identifier: Apache-2.0
#include "lib/classic/container.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "blocksieve/sizing.h"
#include "lib/base/errors.h"

namespace blocksieve {
namespace internal {

double ClassicBloomFpr(double bits_per_key, uint32_t num_probes) noexcept {
  assert(bits_per_key > 0 && num_probes >= 1);
  return std::pow(-std::expm1(-(num_probes / bits_per_key)), num_probes);
}

}  // namespace internal

using internal::CheckRange;

Result<BloomLayout> BloomLayout::ForKeys(uint64_t num_keys, double target_fpr,
                                         uint64_t hash_seed) try {
  BLOCKSIEVE_RETURN_IF_ERROR(CheckRange("target_fpr", target_fpr, kMinTargetFpr, kMaxTargetFpr));
  // The number of probes with which filters are smallest.
  uint32_t num_probes = 0;
  double bits_per_key = std::numeric_limits<double>::infinity();
  for (uint32_t k = 1; k <= kMaxBloomProbes; ++k) {
    // ClassicBloomFpr solved for bits per key.
    const double bits = -1.0 * k / std::log1p(-std::pow(target_fpr, 1.0 / k));
    if (bits >= bits_per_key) break;  // convex in k
    num_probes = k;
    bits_per_key = bits;
  }
  // Small filters have a higher FPR than the asymptotic formula. These bits compensate for it at
  // any number of keys; a test compares with the exact model.
  const double extra_bits = 0.5 + 0.25 * num_probes;
  // One bit less, so that rounding does not exceed the maximum.
  const double max_bits = static_cast<double>(kMaxBloomBits - 1) - extra_bits;
  const auto max_keys = static_cast<uint64_t>(max_bits / bits_per_key);
  BLOCKSIEVE_RETURN_IF_ERROR(CheckRange("num_keys", num_keys, 1, max_keys));
  const double num_bits = std::ceil(static_cast<double>(num_keys) * bits_per_key + extra_bits);
  return BloomLayout{.num_bits = static_cast<uint64_t>(num_bits),
                     .num_probes = num_probes,
                     .hash_seed = hash_seed,
                     .design_keys = num_keys};
}
BLOCKSIEVE_CATCH_BAD_ALLOC

Result<BloomLayout> BloomLayout::ForBits(uint64_t num_bits, uint32_t num_probes,
                                         uint64_t hash_seed) {
  BloomLayout layout{.num_bits = num_bits, .num_probes = num_probes, .hash_seed = hash_seed};
  layout.design_keys = 1;  // valid, so that Check() looks at the other fields
  BLOCKSIEVE_RETURN_IF_ERROR(layout.Check());
  const double keys = static_cast<double>(num_bits) * std::numbers::ln2 / num_probes;
  layout.design_keys = std::max(uint64_t{1}, static_cast<uint64_t>(std::llround(keys)));
  return layout;
}

Result<BloomLayout> BloomLayout::ForBytes(uint64_t num_bytes, uint32_t num_probes,
                                          uint64_t hash_seed) {
  BLOCKSIEVE_RETURN_IF_ERROR(CheckRange("num_bytes", num_bytes, 1, kMaxBloomBits / 8));
  return ForBits(8 * num_bytes, num_probes, hash_seed);
}

Status BloomLayout::Check() const {
  BLOCKSIEVE_RETURN_IF_ERROR(CheckRange("num_bits", num_bits, 1, kMaxBloomBits));
  BLOCKSIEVE_RETURN_IF_ERROR(CheckRange("num_probes", num_probes, 1, kMaxBloomProbes));
  return CheckRange("design_keys", design_keys, 1, std::numeric_limits<uint64_t>::max());
}

}  // namespace blocksieve
