#include "tests/support/statistics.h"

#include <cmath>

namespace blocksieve::testing {
namespace {

double PoissonQuantile(double mean, double share) {
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

}  // namespace

Interval CountInterval(double mean, double relative_spread) {
  constexpr double kTail = 1e-6;
  constexpr double kTailSigmas = 4.75;
  const double slack = kTailSigmas * relative_spread * mean;
  return {std::floor(PoissonQuantile(mean, kTail) - slack),
          std::ceil(PoissonQuantile(mean, 1 - kTail) + slack)};
}

}  // namespace blocksieve::testing
