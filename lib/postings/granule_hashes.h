#pragma once

#include <cstdint>
#include <span>

namespace blocksieve::internal {

/// Hashes of the values of all granules: counts[0] hashes of granule 0, counts[1] of granule 1, ...
struct GranuleHashes {
  std::span<const uint64_t> hashes;
  std::span<const uint64_t> counts;
};

}  // namespace blocksieve::internal
