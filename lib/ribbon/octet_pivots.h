#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "lib/ribbon/hash.h"

// Steps 1 and 2 of the elimination in solver_scalar.cc: choosing the pivots of eight columns, and
// computing their sums. Always inlined, to be compiled for each caller's instruction set.

namespace blocksieve::internal {

/// A row in flight: twelve bytes of columns, starting at a multiple of 32, and four of fingerprint,
/// both little-endian. The ones of a row span 64 columns, so rows that start in the first 32 fit.
/// Bytes are read from memory, because extracting them from vectors takes more instructions.
using RowInFlight = uint32_t __attribute__((vector_size(16), may_alias));

inline constexpr int kRowBytes = sizeof(RowInFlight);
inline constexpr size_t kFingerprintByte = 12;

/// Number of rows to choose pivots from: four bits of each make a word.
inline constexpr int kFrontRows = 16;
inline constexpr uint64_t kEveryFrontRow = 0x1111111111111111u;

BLOCKSIEVE_INLINE uint8_t* BytesOf(RowInFlight* row) noexcept {
  return reinterpret_cast<uint8_t*>(row);
}
BLOCKSIEVE_INLINE const uint8_t* BytesOf(const RowInFlight* row) noexcept {
  return reinterpret_cast<const uint8_t*>(row);
}

/// The row at a byte offset, which may be negative.
BLOCKSIEVE_INLINE const RowInFlight& RowAt(const RowInFlight* rows, std::ptrdiff_t bytes) noexcept {
  return *reinterpret_cast<const RowInFlight*>(BytesOf(rows) + bytes);
}

/// All sums of four rows.
struct RibbonSums {
  RowInFlight sum[16];

  RibbonSums() noexcept { sum[0] = RowInFlight{}; }

  /// Adds row `kRow` to the sums of the rows before it.
  template <int kRow>
  BLOCKSIEVE_INLINE void AddNext(RowInFlight row) noexcept {
#pragma GCC unroll 8
    for (int i = 0; i < 1 << kRow; ++i) sum[(1 << kRow) + i] = sum[i] ^ row;
  }

  /// Adds row `kRow` to the sums of the rows after it.
  template <int kRow>
  BLOCKSIEVE_INLINE void AddPrevious(RowInFlight row) noexcept {
#pragma GCC unroll 8
    for (int i = 0; i < 16; i += 2 << kRow) sum[i + (1 << kRow)] = sum[i] ^ row;
  }
};

/// The rows that become the pivots of an octet's columns. `low` and `high` are nibbles of the first
/// and the last four columns.
struct RibbonPivotChoice {
  int nibble[8];         // four times the number of the row
  uint64_t taken;        // bit 4 * (15 - i): row i became a pivot
  uint64_t sum_low[8];   // pivots of columns 0 to 3 to be added
  uint64_t sum_high[8];  // pivots of columns 4 to 7 to be added
  uint64_t low[4];       // ones in the octet after adding them
  uint64_t high[8];
};

/// Chooses the pivots; false if a column has none.
BLOCKSIEVE_INLINE bool ChoosePivots(const RowInFlight* rows, size_t octet,
                                    RibbonPivotChoice* choice) noexcept {
  constexpr uint64_t kLowNibbles = 0x0f0f0f0f0f0f0f0fu;
  uint64_t even = 0;
  uint64_t odd = 0;
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) {
    even |= static_cast<uint64_t>(BytesOf(rows + 2 * i)[octet]) << (8 * i);
    odd |= static_cast<uint64_t>(BytesOf(rows + 2 * i + 1)[octet]) << (8 * i);
  }
  uint64_t low = (even & kLowNibbles) | (odd & kLowNibbles) << 4;
  uint64_t high = (even >> 4 & kLowNibbles) | (odd & ~kLowNibbles);
  uint64_t sum_low = 0;
  uint64_t sum_high = 0;
  choice->taken = 0;
  // Multiplying the rows that have a one by the pivot's nibble puts that nibble in each of them.
  // The pivot is one of them, so it becomes zero and is not chosen again.
#pragma GCC unroll 8
  for (int k = 0; k < 8; ++k) {
    const uint64_t ones = (k < 4 ? low >> k : high >> (k - 4)) & kEveryFrontRow;
    if (ones == 0) return false;
    const int at = std::countr_zero(ones);
    choice->nibble[k] = at;
    choice->taken |= (uint64_t{1} << 60) >> at;
    choice->sum_low[k] = sum_low >> at & 15;
    choice->sum_high[k] = sum_high >> at & 15;
    choice->high[k] = high >> at & 15;
    high ^= ones * choice->high[k];
    if (k < 4) {
      choice->low[k] = low >> at & 15;
      low ^= ones * choice->low[k];
      sum_low |= ones << k;
    } else {
      sum_high |= ones << (k - 4);
    }
  }
  return true;
}

/// Computes the pivots, and their sums, indexed by the ones in the first and in the last four
/// columns.
BLOCKSIEVE_INLINE void SumPivots(const RowInFlight* rows, const RibbonPivotChoice& choice,
                                 RowInFlight* pivot, RibbonSums* by_low,
                                 RibbonSums* by_high) noexcept {
  const auto row = [&](int k) { return RowAt(rows, kRowBytes / 4 * choice.nibble[k]); };
  // Forwards: each pivot is a row plus earlier pivots.
  RibbonSums first;
  RibbonSums last;
  const auto reduced = [&](int k) {
    return row(k) ^ first.sum[choice.sum_low[k]] ^ last.sum[choice.sum_high[k]];
  };
  pivot[0] = row(0);
  first.AddNext<0>(pivot[0]);
  pivot[1] = row(1) ^ first.sum[choice.sum_low[1]];
  first.AddNext<1>(pivot[1]);
  pivot[2] = row(2) ^ first.sum[choice.sum_low[2]];
  first.AddNext<2>(pivot[2]);
  pivot[3] = row(3) ^ first.sum[choice.sum_low[3]];
  first.AddNext<3>(pivot[3]);
  pivot[4] = row(4) ^ first.sum[choice.sum_low[4]];
  last.AddNext<0>(pivot[4]);
  pivot[5] = reduced(5);
  last.AddNext<1>(pivot[5]);
  pivot[6] = reduced(6);
  last.AddNext<2>(pivot[6]);
  pivot[7] = reduced(7);

  // Backwards: clears the ones in the columns of later pivots, so that sums can be looked up by
  // ones.
  by_high->AddPrevious<3>(pivot[7]);
  by_high->AddPrevious<2>(pivot[6] ^ by_high->sum[choice.high[6] & 8]);
  by_high->AddPrevious<1>(pivot[5] ^ by_high->sum[choice.high[5] & 12]);
  by_high->AddPrevious<0>(pivot[4] ^ by_high->sum[choice.high[4] & 14]);
  const auto cleared = [&](int k) { return pivot[k] ^ by_high->sum[choice.high[k]]; };
  by_low->AddPrevious<3>(cleared(3));
  by_low->AddPrevious<2>(cleared(2) ^ by_low->sum[choice.low[2] & 8]);
  by_low->AddPrevious<1>(cleared(1) ^ by_low->sum[choice.low[1] & 12]);
  by_low->AddPrevious<0>(cleared(0) ^ by_low->sum[choice.low[0] & 14]);
}

}  // namespace blocksieve::internal
