// SPDX-License-Identifier: Apache-2.0
#include "blocksieve/bloom.h"

#include <cmath>

#include "lib/base/errors.h"
#include "lib/classic/container.h"

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

namespace blocksieve {
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
