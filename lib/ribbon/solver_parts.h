#pragma once

#include <cstdint>

#include "lib/ribbon/solver.h"

// Parts that kernels share. Always inlined: each caller compiles them for its own instruction set.

namespace blocksieve::internal {

/// The transpose of an 8 x 8 bit matrix whose rows are bytes (Warren, "Hacker's Delight", 7-3).
BLOCKSIEVE_INLINE uint64_t TransposeBits(uint64_t x) noexcept {
  uint64_t t = (x ^ (x >> 7)) & 0x00aa00aa00aa00aau;
  x ^= t ^ (t << 7);
  t = (x ^ (x >> 14)) & 0x0000cccc0000ccccu;
  x ^= t ^ (t << 14);
  t = (x ^ (x >> 28)) & 0x00000000f0f0f0f0u;
  return x ^ t ^ (t << 28);
}

BLOCKSIEVE_INLINE void FindStartsOf(const uint64_t* mixed, size_t num_rows, uint32_t multiplier,
                                    uint32_t num_octets, uint32_t fold, uint32_t* starts) noexcept {
  for (size_t i = 0; i < num_rows; ++i) {
    const uint32_t slot = RibbonSlotInChunk(mixed[i], multiplier, num_octets);
    starts[i] = (slot > fold ? slot : fold) - fold;
  }
}

/// `Parity` tells the lowest bit of the number of bits set.
template <uint64_t Parity(uint64_t)>
BLOCKSIEVE_INLINE void BackSubstituteByWords(const uint64_t* pivots, uint32_t num_columns,
                                             const uint64_t* next, uint64_t* words) noexcept {
  // Column by column would be simpler, but each bit waits for the one before; several columns at
  // once keep the processor busy.
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
        window[k] = shifted | (Parity(shifted & row) ^ (in[k] >> 63));
        in[k] <<= 1;
      }
    }
    for (uint32_t k = 0; k < lanes; ++k) words[j + k] = window[k];
  }
}

}  // namespace blocksieve::internal
