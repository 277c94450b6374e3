#pragma once

#include <cstdint>

#include "blocksieve/status.h"

namespace blocksieve {

/// Most bits of a classic or counting Bloom filter: what a filter block of less than 4 GiB holds.
inline constexpr uint64_t kMaxBloomBits = (UINT64_C(1) << 35) - 1024;

/// Most bits, or counters, that a key of one sets (k).
inline constexpr uint32_t kMaxBloomProbes = 32;

/// How a classic or counting Bloom filter is laid out. The three factories are the three ways in
/// which filters are specified; all errors are InvalidArgument, naming what is out of its range.
/// Thread-safe, as is everything in this header.
struct BloomLayout {
  uint64_t num_bits = 0;     ///< Bits, or counters (m); 1 to kMaxBloomBits.
  uint32_t num_probes = 0;   ///< Bits that a key sets (k); 1 to kMaxBloomProbes.
  uint64_t hash_seed = 0;    ///< Seed of HashKey.
  uint64_t design_keys = 0;  ///< With more distinct keys the filter is over-full; >= 1.

  /// For a number of keys and a false-positive rate (FPR) that it does not exceed with up to that
  /// many keys: the bytes that the lookup table (sizing.h) gives, and one more, without which
  /// filters of few keys exceed the target. `target_fpr` has the range of ChooseLayout.
  static Result<BloomLayout> ForKeys(uint64_t num_keys, double target_fpr, uint64_t hash_seed = 0);

  /// For a number of bits and of probes. It is designed for the keys that set half of the
  /// bits, num_bits ln 2 / num_probes, where those numbers are the best choice for each other.
  static Result<BloomLayout> ForBits(uint64_t num_bits, uint32_t num_probes,
                                     uint64_t hash_seed = 0);

  /// The same for a size in bytes, as ClickHouse's BloomFilterParameters(size, hashes, seed).
  static Result<BloomLayout> ForBytes(uint64_t num_bytes, uint32_t num_probes,
                                      uint64_t hash_seed = 0);

  /// Whether all fields are in their ranges.
  Status Check() const;

  /// Whether the same keys set the same bits: filters that can be united.
  bool SameBits(const BloomLayout& other) const noexcept {
    return num_bits == other.num_bits && num_probes == other.num_probes &&
           hash_seed == other.hash_seed;
  }
};

/// How many distinct keys a filter holds.
struct CardinalityEstimate {
  double keys = 0;            ///< The estimate.
  double standard_error = 0;  ///< One standard deviation of `keys`, in keys.
};

/// The number of distinct keys that set `num_set_bits` of the bits: ln(1 - X/m) / (k ln(1 - 1/m)),
/// the n at which X is expected (Swamidass and Baldi, 2007, have -(m/k) ln(1 - X/m), its limit for
/// large m). The error is that of linear counting with k n balls, sqrt(m (e^t - t - 1)) / k where
/// t = k n / m (Whang, Vander-Zanden and Taylor, 1990). Both are infinite if all bits are set.
/// REQUIRES: layout.Check().ok(), num_set_bits <= layout.num_bits.
CardinalityEstimate EstimateCardinality(const BloomLayout& layout, uint64_t num_set_bits) noexcept;

}  // namespace blocksieve
