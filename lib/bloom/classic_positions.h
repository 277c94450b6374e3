#pragma once

#include <cstdint>

// Where the bits of a key are, in classic and counting Bloom filters and in the transposed ones of
// skip indexes.

namespace blocksieve::internal {

/// The j-th of k positions among `num_bits` is drawn from the high bits of
/// hash * kPositionMultiplier^(j+1). The multiplier is one of those that Steele and Vigna found
/// best by the spectral test ("Computationally easy, spectrally good multipliers for congruential
/// pseudorandom number generators", 2022), which is just what is needed here: that consecutive
/// multiples are evenly spread in several dimensions. Measured FPR is the model's as far as chance
/// lets one see, from one key on, also with few bits and many positions.
///
/// Double hashing, h1 + i h2 with the halves of a 128-bit hash, lost: two keys share all positions
/// where they share two, which in few bits is often. Relative to the model's FPR, measured:
///
///      bits  keys   k   h1 + i h2   enhanced   this
///        64     6   7        3.84       1.19   1.00
///        64     3  15         488       14.1   1.02
///     1,000   100   7        1.09       1.02   1.00
///     1,024    50  14        23.0       1.98   0.98
///     4,096   170  16        29.7       2.04   1.04 (chance: 0.05)
///   100,000 10,000  7        1.00       1.00   0.99
///
/// "Enhanced" adds (i^3 - i) / 6 (Dillinger and Manolios, 2004). More bits of hash gain nothing:
/// two keys with the same 64 bits are rarer than the lowest FPR that there is a layout for.
inline constexpr uint64_t kPositionMultiplier = 0xd1342543de82ef95;

class Positions {
 public:
  Positions(uint64_t hash, uint64_t num_bits) noexcept : state_(hash), num_bits_(num_bits) {}
  uint64_t Next() noexcept {
    state_ *= kPositionMultiplier;
    return static_cast<uint64_t>(static_cast<unsigned __int128>(state_) * num_bits_ >> 64);
  }

 private:
  uint64_t state_;
  uint64_t num_bits_;
};

}  // namespace blocksieve::internal
