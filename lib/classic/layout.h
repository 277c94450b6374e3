#pragma once

#include <cstdint>

// The model of classic Bloom filters.

namespace blocksieve::internal {

/// FPR of a classic Bloom filter with many keys: (1 - e^(-k/b))^k (Bloom, 1970; Mullin, 1983).
/// REQUIRES: bits_per_key > 0, num_probes >= 1.
double ClassicBloomFpr(double bits_per_key, uint32_t num_probes) noexcept;

}  // namespace blocksieve::internal
