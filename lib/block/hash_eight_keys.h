#pragma once

#include "lib/block/probe_loops.h"
#include "lib/hash/hash_eight.h"

#if defined(__x86_64__)

namespace blocksieve::internal {

/// Hashes of the first eight of `num_keys` keys, or of as many as there are; lanes behind them have
/// any value. Returns whether a key is empty.
BLOCKSIEVE_EIGHT bool HashUpToEight(const FilterView& view, KeyList keys, size_t num_keys,
                                    __m512i* hashes) noexcept {
  if (num_keys >= 8) [[likely]] {
    if (HashEightKeys(keys, view.hash_seed, hashes)) [[likely]]
      return false;
    num_keys = 8;
  }
  alignas(64) uint64_t by_lane[8] = {};
  const bool has_empty = HashKeys(view, keys, num_keys, by_lane, [](uint64_t) {});
  *hashes = _mm512_load_si512(by_lane);
  return has_empty;
}

}  // namespace blocksieve::internal

#endif  // __x86_64__
