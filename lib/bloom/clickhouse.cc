#include "blocksieve/bloom.h"

#include <cmath>

#include "lib/base/errors.h"
#include "lib/bloom/bloom_model.h"

// ClickHouse takes whole bits per key and a number of hash functions from a table of classic Bloom
// FPRs in three digits. Its rule is kept: the smallest row that can meet the target, and in it the
// fewest hash functions that do. So are the three digits, which let a filter miss its target by up
// to half a percent: 0.001 gives (15, 7), whose FPR is 0.001003. Not kept:
//
// * Targets in [0.283, 0.400) gave (2, 2), whose FPR is 0.400. They get (3, 1), or (2, 1) from
//   0.393 on. (2, 2) stays the answer from 0.400 on, although (2, 1) would do.
// * Targets in [0.221, 0.237) gave (19, 13), because the search for fewer hash functions ran off
//   the row. They get (4, 1).
// * Row 20 was in the table but could not be reached. It can be, for targets that no other row
//   meets: 1e-4 gives (20, 10), and the most accurate answer is (20, 14), 6.71e-5.
// * Targets below all rows gave (19, 13) silently. They are errors, as are targets above 1.
// * One entry had two digits, 0.092 for (5, 3), where the formula gives 0.0918. Targets between
//   the two got (6, 2).

namespace blocksieve {
namespace {

constexpr uint32_t kMinBitsPerKey = 2;
constexpr uint32_t kMaxBitsPerKey = 20;
constexpr ClickHouseLayout kSmallest{2, 2};
constexpr ClickHouseLayout kLowestFpr{20, 14};

/// The FPR in three digits, as the table has it.
double Entry(const ClickHouseLayout& layout) noexcept {
  const double fpr = internal::ClassicBloomFpr(layout.bits_per_key, layout.num_probes);
  double scale = 1000;  // powers of ten are exact, so that entries equal decimal literals
  while (fpr * scale < 100) scale *= 10;
  return std::round(fpr * scale) / scale;
}

}  // namespace

Result<ClickHouseLayout> clickhouse_best_practice(double target_fpr) {
  if (!(target_fpr >= Entry(kLowestFpr) && target_fpr <= 1)) {
    return internal::OutOfRange("target_fpr", target_fpr, Entry(kLowestFpr), 1);
  }
  if (target_fpr >= Entry(kSmallest)) return kSmallest;
  for (uint32_t bits = kMinBitsPerKey; bits <= kMaxBitsPerKey; ++bits) {
    for (uint32_t probes = 1; probes <= bits; ++probes) {
      if (Entry({bits, probes}) <= target_fpr) return ClickHouseLayout{bits, probes};
    }
  }
  return kLowestFpr;
}

}  // namespace blocksieve
