#include "integration/cli/files/rate_interval.h"

#include <cmath>

namespace blocksieve::cli {

RateInterval WilsonInterval(uint64_t num_hits, uint64_t num_trials) {
  constexpr double kZ = 1.959963984540054;  // of the normal distribution, 97.5 %
  const auto n = static_cast<double>(num_trials);
  const double share = static_cast<double>(num_hits) / n;
  const double scale = 1 + kZ * kZ / n;
  const double middle = (share + kZ * kZ / (2 * n)) / scale;
  const double half = kZ / scale * std::sqrt(share * (1 - share) / n + kZ * kZ / (4 * n * n));
  // At the ends rounding would leave a trifle.
  return {num_hits == 0 ? 0 : middle - half, num_hits == num_trials ? 1 : middle + half};
}

}  // namespace blocksieve::cli
