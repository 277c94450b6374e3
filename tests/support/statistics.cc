#include "tests/support/statistics.h"

#include <algorithm>
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

double BlockedBloomSpread(const Layout& layout, uint64_t num_keys) {
  constexpr double kLineBits = 512;
  const double mean_load = kLineBits / layout.bits_per_key;
  const double num_lines = std::max(1.0, static_cast<double>(num_keys) / mean_load);
  // Moments of a line's FPR over its number of keys, which is Poisson-distributed. Assumes that a
  // line of `load` keys has exactly the expected number of bits set, which is close enough for a
  // spread.
  double weight = std::exp(-mean_load);
  double mean = 0;
  double mean_square = 0;
  const double most = mean_load + 12 * std::sqrt(mean_load) + 20;
  for (int load = 0; load < most; ++load) {
    const double fill = 1 - std::pow(1 - 1 / kLineBits, load * layout.num_probes);
    const double fpr = std::pow(fill, layout.num_probes);
    mean += weight * fpr;
    mean_square += weight * fpr * fpr;
    weight *= mean_load / (load + 1);
  }
  return std::sqrt(std::max(0.0, mean_square / (mean * mean) - 1) / num_lines);
}

Interval FprInterval(double target_fpr, double low_ratio, double high_ratio, double spread,
                     uint64_t num_probes) {
  const double by_probing = target_fpr * (1 - target_fpr) / static_cast<double>(num_probes);
  const double by_filter = target_fpr * spread * target_fpr * spread;
  const double slack = kSigmas * std::sqrt(by_probing + by_filter);
  return {low_ratio * target_fpr - slack, high_ratio * target_fpr + slack};
}

}  // namespace blocksieve::testing
