#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/kernels.h"
#include "lib/ribbon/hash.h"

// The linear algebra of a ribbon filter, one implementation per instruction set.
//
// All give the same bytes. Whichever way a consistent system is eliminated, the columns that get a
// pivot are the same, and so is the space spanned by the rows that remain; with all other columns
// set to zero the solution is unique. What is left to agree on is which systems count as solved,
// hence Eliminate's exact answer, down to dependent rows among those that it hands on.

namespace blocksieve::internal {

/// Rows that may be in flight at the end of a chunk.
inline constexpr uint32_t kRibbonMaxCarried = 64;

/// Bytes of fingerprint that a kernel handles per slot: eight columns each.
constexpr uint32_t RibbonPlaneGroups(uint32_t columns) noexcept { return (columns + 7) / 8; }

/// An equation. Aligned for kernels that make one vector of it.
struct alignas(16) RibbonRow {
  uint64_t coefficients;  ///< Bit i is column start + i.
  uint64_t tag;           ///< Start modulo 32 | fingerprint << 8.
};

/// Rows to be eliminated, ordered by the octet (eight columns) in which they start.
struct RibbonRows {
  RibbonRow* rows;
  size_t num_rows;
  const uint32_t* octet_counts;  ///< Rows that start in each octet.
  size_t num_octets;
};

/// Rows that have no pivot yet when the columns of a chunk are all eliminated. They are linearly
/// independent.
struct RibbonCarried {
  uint32_t count = 0;
  uint64_t coefficients[kRibbonMaxCarried];  ///< Bit i is column i of the next chunk.
  uint32_t fingerprints[kRibbonMaxCarried];
};

/// What Eliminate produces.
struct RibbonEchelon {
  /// For each column the row that has its pivot there, bit 0 being this column; 0 for no row.
  uint64_t* pivots;
  /// The fingerprints of these rows, by octet and eight columns of fingerprint: eight bytes, byte j
  /// being bit j of the fingerprints and its bit k column k of the octet.
  uint8_t* planes;
  RibbonCarried carried;
};

enum class RibbonOutcome : uint8_t {
  kSolved,
  kContradiction,  ///< Rows depend on others, but not their fingerprints.
  kTooManyRows,    ///< More rows in flight than the kernel holds: ask the scalar one.
};

struct RibbonSolver {
  /// The start of each row: RibbonSlotInChunk less `fold`, but not below 0.
  void (*find_starts)(const uint64_t* mixed, size_t num_rows, uint32_t multiplier,
                      uint32_t num_octets, uint32_t fold, uint32_t* starts);

  /// `fingerprint_columns`: bits of fingerprint in use, up to kMaxRibbonColumns + 1. Overwrites the
  /// rows, unless the outcome is kTooManyRows.
  RibbonOutcome (*eliminate)(const RibbonRows& rows, uint32_t fingerprint_columns,
                             RibbonEchelon* echelon);

  /// Solves 64 slots, given the solution of the 64 after them. `pivots` are those of the slots; a
  /// word of `words` is one column: in, fingerprints; out, solution. `next` is the words of the
  /// following segment.
  void (*back_substitute)(const uint64_t* pivots, uint32_t fingerprint_columns,
                          const uint64_t* next, uint64_t* words);
};

extern const RibbonSolver kRibbonSolverScalar;
extern const RibbonSolver kRibbonSolverAvx2;
extern const RibbonSolver kRibbonSolverAvx512;

/// REQUIRES: `kernel` is available.
const RibbonSolver& RibbonSolverFor(Kernel kernel) noexcept;

// Parts that kernels share. Always inlined: each caller compiles them for its own instruction set.

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
