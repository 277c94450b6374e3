#pragma once

#include <ostream>

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

}  // namespace blocksieve::testing
