#pragma once

#include <cstdint>

namespace blocksieve::cli {

/// A share and where it may lie.
struct RateInterval {
  double low = 0;
  double high = 1;
};

/// Wilson's score interval with a confidence of 95 % for a share of which `num_hits` of
/// `num_trials` were seen (Wilson, "Probable inference, the law of succession, and statistical
/// inference", 1927). It holds for no hits too. REQUIRES: num_trials > 0
RateInterval WilsonInterval(uint64_t num_hits, uint64_t num_trials);

}  // namespace blocksieve::cli
