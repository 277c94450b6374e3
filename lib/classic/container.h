#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cassert>
#include <cstdint>

#include "blocksieve/bloom.h"
#include "blocksieve/bytes.h"
#include "blocksieve/status.h"

// Bit positions of keys in classic and counting Bloom filters, the model of their FPR, and their
// serialized form. lib/FORMAT.md is normative.
//
//   "BSC" | version (1) | cell bits (1) | k (1) | m (8) | design keys (8) | seed (8) | cells |
//   checksum (4)
//
// Cells are bits (cell bits = 1, a classic filter) or counters of 2, 4, 8 or 16 bits. All numbers
// have a fixed size, so that every filter has exactly one form.

namespace blocksieve::internal {

/// The j-th of k positions among `num_bits` is drawn from the high bits of
/// hash * kPositionMultiplier^(j+1). The multiplier is one of those that Steele and Vigna found
/// best by the spectral test ("Computationally easy, spectrally good multipliers for congruential
/// pseudorandom number generators", 2022): consecutive multiples are evenly distributed in several
/// dimensions. The measured FPR equals the model's within the statistical error, from one key on,
/// also with few bits and many positions.
///
/// Rejected: double hashing, h1 + i h2 with the halves of a 128-bit hash. Two keys that share two
/// positions share all, which is frequent with few bits. Measured FPR relative to the model's:
///
///      bits  keys   k   h1 + i h2   enhanced   this
///        64     6   7        3.84       1.19   1.00
///        64     3  15         488       14.1   1.02
///     1,000   100   7        1.09       1.02   1.00
///     1,024    50  14        23.0       1.98   0.98
///     4,096   170  16        29.7       2.04   1.04 (chance: 0.05)
///   100,000 10,000  7        1.00       1.00   0.99
///
/// "Enhanced" adds (i^3 - i) / 6 (Dillinger and Manolios, 2004). A longer hash gains nothing: two
/// keys have the same 64 bits more rarely than the lowest FPR of any layout.
inline constexpr uint64_t kPositionMultiplier = 0xd1342543de82ef95;

/// FPR of a classic Bloom filter with many keys: (1 - e^(-k/b))^k (Bloom, 1970; Mullin, 1983).
/// REQUIRES: bits_per_key > 0, num_probes >= 1.
double ClassicBloomFpr(double bits_per_key, uint32_t num_probes) noexcept;

/// The next position. `*state` is the key's hash at first.
inline uint64_t NextPosition(uint64_t* state, uint64_t num_bits) noexcept {
  *state *= kPositionMultiplier;
  return static_cast<uint64_t>(static_cast<unsigned __int128>(*state) * num_bits >> 64);
}

/// What a serialized filter says, and a copy of its cells.
struct BloomContainer {
  BloomLayout layout;
  uint32_t cell_bits = 1;
  OwnedBytes cells;
};

/// Size of `num_cells` cells in bytes. REQUIRES: num_cells * cell_bits < 2^64 - 7
constexpr uint64_t CellBytes(uint64_t num_cells, uint32_t cell_bits) noexcept {
  assert(num_cells <= (UINT64_MAX - 7) / cell_bits);
  return (num_cells * cell_bits + 7) / 8;
}

// All functions but WriteContainer may throw std::bad_alloc.

/// Checks the layout of a counting filter. Errors: InvalidArgument, naming what is out of range.
Status CheckCounters(const BloomLayout& layout, uint32_t counter_bits);

/// Allocates a zeroed array of cells. Errors: ResourceExhausted if out of memory.
/// REQUIRES: layout.Check() or, for counters, CheckCounters() is ok.
Result<OwnedBytes> AllocateCells(const BloomLayout& layout, uint32_t cell_bits);

/// Errors: InvalidArgument for a layout without bits; ResourceExhausted if out of memory.
Result<OwnedBytes> WriteContainer(const BloomLayout& layout, uint32_t cell_bits, ByteView cells);

/// Reads any bytes, checking all of them, before it allocates memory of about their size. Errors:
/// Corruption; NotSupported, also for counters instead of bits or the reverse; ResourceExhausted.
Result<BloomContainer> ReadContainer(bool has_counters, ByteView bytes);

}  // namespace blocksieve::internal
