#pragma once

#include <cstdint>
#include <ostream>

#include "blocksieve/sizing.h"

// How far a measured rate may be from the true one, computed.

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

/// The counts of a Poisson-distributed number with this mean, except for one in 10^6 on either
/// side. Widened by `relative_spread` of the mean, for filters that differ by chance.
Interval CountInterval(double mean, double relative_spread);

/// Spread of the FPR of blocked Bloom filters of `num_keys` keys, whose lines are unevenly filled:
/// standard deviation over mean.
double BlockedBloomSpread(const Layout& layout, uint64_t num_keys);

/// The interval for a measured FPR: [low_ratio, high_ratio] x target, widened for chance in
/// `num_probes` probes and for the spread among filters.
Interval FprInterval(double target_fpr, double low_ratio, double high_ratio, double spread,
                     uint64_t num_probes);

}  // namespace blocksieve::testing
