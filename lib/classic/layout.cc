// SPDX-License-Identifier: Apache-2.0
#include "lib/classic/container.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numbers>

#include "blocksieve/bloom.h"
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

// ClickHouse looks up whole bits per key and a number of hash functions in a table of classic Bloom
// FPRs with three digits. This function keeps the rule: the smallest row that meets the target,
// with the fewest hash functions that do. It also keeps the three digits, although a filter may
// miss its target by half a percent: 0.001 gives (15, 7), whose FPR is 0.001003. Differences:
//
// * Targets in [0.283, 0.400): ClickHouse gives (2, 2), whose FPR is 0.400; here (3, 1), or (2, 1)
//   from 0.393 on. From 0.400 on, (2, 2) remains, although (2, 1) meets the target.
// * Targets in [0.221, 0.237): ClickHouse gives (19, 13), because its search for fewer hash
//   functions runs off the row; here (4, 1).
// * Row 20: unreachable in ClickHouse; here for targets that no other row meets: 1e-4 gives
//   (20, 10), and the most accurate answer is (20, 14), 6.71e-5.
// * Targets below all rows: ClickHouse silently gives (19, 13); here errors, like targets above 1.
// * Entry (5, 3) has two digits in ClickHouse, 0.092, where the formula gives 0.0918; targets
//   between the two get (6, 2) there.

namespace {

constexpr uint32_t kMinBitsPerKey = 2;
constexpr uint32_t kMaxBitsPerKey = 20;
constexpr ClickHouseLayout kSmallest{2, 2};
constexpr ClickHouseLayout kLowestFpr{20, 14};

/// The FPR with three digits, as in the table.
double Entry(const ClickHouseLayout& layout) noexcept {
  const double fpr = internal::ClassicBloomFpr(layout.bits_per_key, layout.num_probes);
  double scale = 1000;  // powers of ten are exact, so that entries equal decimal literals
  while (fpr * scale < 100) scale *= 10;
  return std::round(fpr * scale) / scale;
}

}  // namespace

Result<ClickHouseLayout> clickhouse_best_practice(double target_fpr) {
  BLOCKSIEVE_RETURN_IF_ERROR(internal::CheckRange("target_fpr", target_fpr, Entry(kLowestFpr), 1));
  if (target_fpr >= Entry(kSmallest)) return kSmallest;
  for (uint32_t bits = kMinBitsPerKey; bits <= kMaxBitsPerKey; ++bits) {
    for (uint32_t probes = 1; probes <= bits; ++probes) {
      if (Entry({bits, probes}) <= target_fpr) return ClickHouseLayout{bits, probes};
    }
  }
  return kLowestFpr;
}

}  // namespace blocksieve
