#pragma once

#include <cmath>
#include <cstdint>
#include <ostream>

namespace blocksieve::testing {

/// The counts that a Poisson-distributed number with this mean takes, but for one in 10^6 on either
/// side. Widened by `relative_spread` of the mean, that of filters that differ by chance.
struct CountInterval {
  CountInterval(double mean, double relative_spread) {
    constexpr double kTail = 1e-6;
    constexpr double kTailSigmas = 4.75;
    const double slack = kTailSigmas * relative_spread * mean;
    low = std::floor(Quantile(mean, kTail) - slack);
    high = std::ceil(Quantile(mean, 1 - kTail) + slack);
  }

  bool Contains(uint64_t count) const {
    return low <= static_cast<double>(count) && static_cast<double>(count) <= high;
  }

  double low;
  double high;

 private:
  static double Quantile(double mean, double share) {
    double sum = 0;
    double count = std::fmax(0, std::floor(mean - 12 * std::sqrt(mean) - 30));
    for (;;) {
      // NOLINTNEXTLINE(concurrency-mt-unsafe): of the sign, which nobody reads
      sum += std::exp(count * std::log(mean) - mean - std::lgamma(count + 1));
      if (sum >= share) return count;
      // Beyond the reach of what doubles can add up to.
      if (count > mean + 12 * std::sqrt(mean) + 30) return count;
      count += 1;
    }
  }
};

inline std::ostream& operator<<(std::ostream& out, const CountInterval& interval) {
  return out << "[" << interval.low << ", " << interval.high << "]";
}

}  // namespace blocksieve::testing
