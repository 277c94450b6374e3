#pragma once

#include <cstdint>
#include <ostream>

#include "blocksieve/sizing.h"

// How far a measured rate may lie from the true one. Computed, not guessed.

namespace blocksieve::testing {

struct Interval {
  double low;
  double high;
  bool Contains(double value) const { return low <= value && value <= high; }
};

inline std::ostream& operator<<(std::ostream& out, const Interval& interval) {
  return out << "[" << interval.low << ", " << interval.high << "]";
}

/// Standard deviations that intervals allow for: one measurement in 16,000 is outside by chance.
inline constexpr double kSigmas = 4;

/// The counts that a Poisson-distributed number with this mean takes, but for one in 10^6 on either
/// side. Widened by `relative_spread` of the mean, that of filters that differ by chance.
Interval CountInterval(double mean, double relative_spread);

/// How much blocked Bloom filters of `num_keys` keys differ in their FPR, because their lines are
/// unevenly filled: standard deviation over mean.
double BlockedBloomSpread(const Layout& layout, uint64_t num_keys);

/// Where a measured FPR may lie: in [low_ratio, high_ratio] x target, widened by what chance does
/// in `num_probes` probes and by the spread among filters.
Interval FprInterval(double target_fpr, double low_ratio, double high_ratio, double spread,
                     uint64_t num_probes);

}  // namespace blocksieve::testing
