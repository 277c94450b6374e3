#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "lib/coding.h"
#include "lib/ribbon_solver.h"

// Elimination row by row, and parts that kernels share. Always inlined: each caller compiles it for
// its own instruction set.

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

/// Brings carried rows into echelon form and drops those that vanish. Whether one contradicts the
/// others must show now: in the next chunk another kernel might already have merged the two.
/// Returns false if so.
BLOCKSIEVE_INLINE bool ReduceCarried(RibbonCarried* carried) noexcept {
  uint64_t* const rows = carried->coefficients;
  uint32_t* const fingerprints = carried->fingerprints;
  const uint32_t count = carried->count;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t row = rows[i];
    const uint32_t fingerprint = fingerprints[i];
    if (row == 0) {
      if (fingerprint != 0) return false;
      continue;
    }
    const uint64_t pivot = row & (0 - row);
    for (uint32_t j = i + 1; j < count; ++j) {
      const uint64_t hit = (rows[j] & pivot) != 0 ? ~uint64_t{0} : 0;
      rows[j] ^= row & hit;
      fingerprints[j] ^= fingerprint & static_cast<uint32_t>(hit);
    }
    rows[kept] = row;
    fingerprints[kept++] = fingerprint;
  }
  carried->count = kept;
  return true;
}

BLOCKSIEVE_INLINE void FindStartsOf(const uint64_t* mixed, size_t num_rows, uint32_t multiplier,
                                    uint32_t num_octets, uint32_t fold, uint32_t* starts) noexcept {
  for (size_t i = 0; i < num_rows; ++i) {
    const uint32_t slot = RibbonSlotInChunk(mixed[i], multiplier, num_octets);
    starts[i] = (slot > fold ? slot : fold) - fold;
  }
}

BLOCKSIEVE_INLINE RibbonOutcome EliminateByRows(const RibbonRows& rows,
                                                uint32_t fingerprint_columns, uint32_t* scratch,
                                                RibbonEchelon* echelon) noexcept {
  const size_t num_columns = rows.num_octets * kRibbonOctet;
  uint64_t* const pivots = echelon->pivots;
  uint32_t* const fingerprints = scratch;
  std::memset(pivots, 0, (num_columns + kRibbonWidth) * sizeof(*pivots));
  std::memset(fingerprints, 0, (num_columns + kRibbonWidth) * sizeof(*fingerprints));
  size_t next_row = 0;
  for (size_t octet = 0; octet < rows.num_octets; ++octet) {
    for (uint32_t k = rows.octet_counts[octet]; k > 0; --k, ++next_row) {
      size_t column = octet * kRibbonOctet + (rows.tags[next_row] & 7);
      uint64_t row = rows.coefficients[next_row];
      auto fingerprint = static_cast<uint32_t>(rows.tags[next_row] >> 8);
      for (;;) {
        if (row == 0) {
          if (fingerprint != 0) return RibbonOutcome::kContradiction;
          break;
        }
        const int zeros = std::countr_zero(row);
        row >>= zeros;
        column += static_cast<size_t>(zeros);
        if (pivots[column] == 0) {
          pivots[column] = row;
          fingerprints[column] = fingerprint;
          break;
        }
        row ^= pivots[column];
        fingerprint ^= fingerprints[column];
      }
    }
  }

  uint8_t* planes = echelon->planes;
  const uint32_t groups = RibbonPlaneGroups(fingerprint_columns);
  for (size_t octet = 0; octet < rows.num_octets; ++octet) {
    for (uint32_t group = 0; group < groups; ++group, planes += 8) {
      uint64_t bits = 0;
      for (uint32_t k = 0; k < 8; ++k) {
        bits |= static_cast<uint64_t>((fingerprints[octet * 8 + k] >> (8 * group)) & 0xff)
                << (8 * k);
      }
      StoreLittleEndian(planes, TransposeBits(bits));
    }
  }
  RibbonCarried& carried = echelon->carried;
  carried.count = 0;
  for (uint32_t i = 0; i < kRibbonWidth; ++i) {
    if (pivots[num_columns + i] == 0) continue;
    carried.coefficients[carried.count] = pivots[num_columns + i] << i;
    carried.fingerprints[carried.count++] = fingerprints[num_columns + i];
  }
  return RibbonOutcome::kSolved;
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
