#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>

#include "lib/base/kernels.h"
#include "lib/ribbon/hash.h"

// The linear algebra of a ribbon filter, with an implementation for each instruction set. All
// produce the same bytes, because Eliminate's outcome is exact (lib/RIBBON.md).

namespace blocksieve::internal {

/// Maximum number of rows in flight at the end of a chunk.
inline constexpr uint32_t kRibbonMaxCarried = 64;

/// Bytes of fingerprint per slot, with eight columns each.
constexpr uint32_t RibbonPlaneGroups(uint32_t columns) noexcept { return (columns + 7) / 8; }

/// An equation, aligned for kernels that load it as one vector.
struct alignas(16) RibbonRow {
  uint64_t coefficients;  ///< Bit i is column start + i.
  uint64_t tag;           ///< Start modulo 32 | fingerprint << 8.
};

/// Rows without a pivot after all columns of a chunk are eliminated. They are linearly independent.
struct RibbonCarried {
  uint32_t count = 0;
  uint64_t coefficients[kRibbonMaxCarried];  ///< Bit i is column i of the next chunk.
  uint32_t fingerprints[kRibbonMaxCarried];
};

/// The equations of a chunk, and what their elimination makes of them.
struct RibbonSystem {
  RibbonRow* rows;  ///< Ordered by the octet (eight columns) in which they start.
  size_t num_rows;
  const uint32_t* octet_counts;  ///< Number of rows that start in each octet.
  size_t num_octets;
  /// The pivot row of each column, with this column in bit 0; 0 if it has none.
  uint64_t* pivots;
  /// The fingerprints of these rows, by octet and eight columns of fingerprint: eight bytes, of
  /// which byte j has bit j of the fingerprints, with column k of the octet in bit k.
  uint8_t* planes;
  RibbonCarried carried = {};
};

struct RibbonSolver {
  /// Computes the start of each row: RibbonSlotInChunk - fold, but at least 0.
  void (*find_starts)(const uint64_t* mixed, size_t num_rows, uint32_t multiplier,
                      uint32_t num_octets, uint32_t fold, uint32_t* starts);

  /// Eliminates the rows, whose fingerprints have `fingerprint_columns` bits, at most
  /// kMaxRibbonColumns + 1. Overwrites the rows. False if a row depends on others, but its
  /// fingerprint does not.
  bool (*eliminate)(uint32_t fingerprint_columns, RibbonSystem* system);

  /// Solves a segment of 64 slots with these pivots. Each of `words` is a column: its fingerprints
  /// on input, its solution on output. `next` is the solution of the next segment.
  void (*back_substitute)(const uint64_t* pivots, uint32_t fingerprint_columns,
                          const uint64_t* next, uint64_t* words);
};

/// The solver of a kernel. REQUIRES: `kernel` is available.
const RibbonSolver& RibbonSolverFor(Kernel kernel) noexcept;

// Functions that kernels share. Always inlined, to be compiled for each caller's instruction set.

/// The transpose of an 8 x 8 bit matrix whose rows are bytes (Warren, "Hacker's Delight", 7-3).
BLOCKSIEVE_INLINE uint64_t TransposeBits(uint64_t x) noexcept {
  uint64_t t = (x ^ (x >> 7)) & 0x00aa00aa00aa00aau;
  x ^= t ^ (t << 7);
  t = (x ^ (x >> 14)) & 0x0000cccc0000ccccu;
  x ^= t ^ (t << 14);
  t = (x ^ (x >> 28)) & 0x00000000f0f0f0f0u;
  return x ^ t ^ (t << 28);
}

BLOCKSIEVE_INLINE void FindStarts(const uint64_t* mixed, size_t num_rows, uint32_t multiplier,
                                  uint32_t num_octets, uint32_t fold, uint32_t* starts) noexcept {
  for (size_t i = 0; i < num_rows; ++i) {
    const uint32_t slot = RibbonSlotInChunk(mixed[i], multiplier, num_octets);
    starts[i] = (slot > fold ? slot : fold) - fold;
  }
}

/// RibbonSolver::back_substitute.
BLOCKSIEVE_INLINE void BackSubstituteByWords(const uint64_t* pivots, uint32_t num_columns,
                                             const uint64_t* next, uint64_t* words) noexcept {
  // Several columns at once, because each bit of a column waits for the one before.
  for (uint32_t j = 0; j < num_columns; j += 4) {
    const uint32_t lanes = num_columns - j < 4 ? num_columns - j : 4;
    uint64_t window[4] = {};
    uint64_t in[4] = {};
    for (uint32_t k = 0; k < lanes; ++k) {
      window[k] = next[j + k];
      in[k] = words[j + k];
    }
    for (uint32_t slot = kRibbonWidth; slot-- > 0;) {
      const uint64_t row = pivots[slot];
      for (uint32_t k = 0; k < 4; ++k) {
        const uint64_t shifted = window[k] << 1;
        const auto parity = static_cast<uint64_t>(__builtin_parityll(shifted & row));
        window[k] = shifted | (parity ^ (in[k] >> 63));
        in[k] <<= 1;
      }
    }
    for (uint32_t k = 0; k < lanes; ++k) words[j + k] = window[k];
  }
}

/// The same, eight columns at a time. For processors with AVX-512, where it is twice as fast.
void BackSubstituteAvx512(const uint64_t* pivots, uint32_t num_columns, const uint64_t* next,
                          uint64_t* words);

}  // namespace blocksieve::internal
