#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cmath>
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

/// The smallest count that a Poisson-distributed number exceeds in at most 1 - `share` of all
/// cases.
inline double PoissonQuantile(double mean, double share) {
  // Beyond this, the tails are too small to add to a double.
  const double reach = 12 * std::sqrt(mean) + 30;
  double sum = 0;
  double count = std::fmax(0, std::floor(mean - reach));
  for (; count <= mean + reach; count += 1) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): only the sign is shared, which nobody reads
    sum += std::exp(count * std::log(mean) - mean - std::lgamma(count + 1));
    if (sum >= share) break;
  }
  return count;
}

/// The counts of a Poisson-distributed number with this mean, except for one in 10^6 on either
/// side. Widened by `relative_spread` of the mean, for filters that differ by chance.
inline Interval CountInterval(double mean, double relative_spread) {
  constexpr double kTail = 1e-6;
  constexpr double kTailSigmas = 4.75;
  const double slack = kTailSigmas * relative_spread * mean;
  return {std::floor(PoissonQuantile(mean, kTail) - slack),
          std::ceil(PoissonQuantile(mean, 1 - kTail) + slack)};
}

}  // namespace blocksieve::testing
