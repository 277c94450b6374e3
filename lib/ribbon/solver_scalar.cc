// SPDX-License-Identifier: Apache-2.0
#include "lib/base/kernels.h"
#include "lib/ribbon/solver.h"

#include <bit>
#include <cassert>
#include <cstddef>

#include "lib/base/coding.h"

// Elimination by octets, eight columns at a time (lib/RIBBON.md), by the method of the four
// Russians (Arlazarov, Dinic, Kronrod and Faradzhev, 1970). Compiled for any processor, for AVX2,
// which implies instructions for shifts, trailing zeros and counting bits, and for AVX-512, which
// adds three vectors at once. Loops depend on the number of rows in flight, but not on other data.

namespace blocksieve::internal {
namespace {

/// A row in flight: twelve bytes of columns, starting at a multiple of 32, and four of fingerprint,
/// both little-endian. The ones of a row span 64 columns, so rows that start in the first 32 fit.
/// Bytes are read from memory, because extracting them from vectors takes more instructions.
using RowInFlight = uint32_t __attribute__((vector_size(16), may_alias));

constexpr int kRowBytes = sizeof(RowInFlight);
constexpr size_t kFingerprintByte = 12;

/// Number of rows to choose pivots from: four bits of each make a word.
constexpr int kFrontRows = 16;
constexpr uint64_t kEveryFrontRow = 0x1111111111111111u;

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

/// Eliminates octet 0 to 3 of the columns from at least 16 rows. Returns the new begin.
BLOCKSIEVE_INLINE RowInFlight* EliminateRows(RowInFlight* begin, RowInFlight* end, size_t octet,
                                             const RibbonPivotChoice& choice,
                                             RowInFlight* pivot) noexcept {
  RibbonSums by_low;
  RibbonSums by_high;
  SumPivots(begin, choice, pivot, &by_low, &by_high);
  const auto reduced = [&](const RowInFlight* row) {
    const int ones = BytesOf(row)[octet];
    static_assert(kRowBytes == 16);
    return *row ^ RowAt(by_low.sum, ones << 4 & 0xf0) ^ RowAt(by_high.sum, ones & 0xf0);
  };
  // The remaining front rows come first, because the next octet needs them.
  RowInFlight* to = begin + kFrontRows;
  for (uint64_t left = ~choice.taken & kEveryFrontRow; left != 0; left &= left - 1) {
    *--to = reduced(&RowAt(begin + kFrontRows - 1, -kRowBytes / 4 * std::countr_zero(left)));
  }
#pragma GCC unroll 4
  for (RowInFlight* row = begin + kFrontRows; row < end; ++row) *row = reduced(row);
  return to;
}

/// The same for any number of rows and pivots (zero if a column has none): for about one octet in a
/// hundred, and for the last rows of a chunk.
__attribute__((noinline)) inline RowInFlight* EliminateFewRows(RowInFlight* begin, RowInFlight* end,
                                                               size_t octet,
                                                               RowInFlight* pivot) noexcept {
  for (int k = 0; k < 8; ++k) {
    pivot[k] = RowInFlight{};
    RowInFlight* row = begin;
    while (row != end && (BytesOf(row)[octet] >> k & 1) == 0) ++row;
    if (row == end) continue;
    pivot[k] = *row;
    *row = *begin++;
    const RowInFlight sums[2] = {{}, pivot[k]};
    for (row = begin; row != end; ++row) *row ^= sums[BytesOf(row)[octet] >> k & 1];
  }
  return begin;
}

/// Drops rows without columns, which depended on others, and advances `begin`. False if one of them
/// has a fingerprint.
__attribute__((noinline)) inline bool DropEmptyRows(RowInFlight** begin,
                                                    RowInFlight* end) noexcept {
  RowInFlight* to = end;
  for (const RowInFlight* from = end; from != *begin;) {
    const RowInFlight row = *--from;
    if ((row[0] | row[1] | row[2]) != 0) {
      *--to = row;
    } else if (row[3] != 0) {
      return false;
    }
  }
  *begin = to;
  return true;
}

/// Converts rows to RowInFlight in place.
BLOCKSIEVE_INLINE RowInFlight* PlaceRows(const RibbonSystem& system) noexcept {
  static_assert(sizeof(RibbonRow) == kRowBytes && alignof(RibbonRow) >= alignof(RowInFlight));
  // Locals, because the compiler must assume that writing bytes changes the system.
  RibbonRow* const row = system.rows;
  for (size_t i = 0, count = system.num_rows; i < count; ++i) {
    const auto [coefficients, tag] = row[i];
    const auto start = static_cast<int>(tag & 31);
    const uint64_t high = coefficients >> 1 >> (63 - start);
    auto* to = reinterpret_cast<uint8_t*>(row + i);
    StoreLittleEndian(to, coefficients << start);
    StoreLittleEndian(to + 8, high | tag >> 8 << 32);
  }
  return reinterpret_cast<RowInFlight*>(row);
}

/// The 64 columns of `row` from `column` < 32 on. REQUIRES: earlier columns are zero.
BLOCKSIEVE_INLINE uint64_t ColumnsFrom(const RowInFlight* row, int column) noexcept {
  const auto low = LoadLittleEndian<uint64_t>(BytesOf(row));
  const auto high = LoadLittleEndian<uint32_t>(BytesOf(row) + 8);
  return std::rotr(low | high, column);
}

BLOCKSIEVE_INLINE void WritePlanes(const RowInFlight* pivot, uint32_t groups,
                                   uint8_t* planes) noexcept {
  for (uint32_t group = 0; group < groups; ++group) {
    uint64_t bits = 0;
#pragma GCC unroll 8
    for (int k = 0; k < 8; ++k) {
      bits |= static_cast<uint64_t>(BytesOf(pivot + k)[kFingerprintByte + group]) << (8 * k);
    }
    StoreLittleEndian(planes + 8 * group, TransposeBits(bits));
  }
}

BLOCKSIEVE_INLINE bool EliminateByOctets(uint32_t fingerprint_columns,
                                         RibbonSystem* system) noexcept {
  const uint32_t groups = RibbonPlaneGroups(fingerprint_columns);
  uint64_t* pivots = system->pivots;
  uint8_t* planes = system->planes;
  RibbonCarried& carried = system->carried;
  carried.count = 0;
  RowInFlight* begin = PlaceRows(*system);
  RowInFlight* end = begin;
  // Rows in flight at the end are also eliminated in the columns that follow. These pivots are the
  // carried rows, and contradictions are found.
  for (size_t octet = 0; octet < system->num_octets + kRibbonWidth / kRibbonOctet; ++octet) {
    if (octet % 4 == 0 && octet != 0) {
      for (RowInFlight* row = begin; row != end; ++row) {
        *row = __builtin_shufflevector(*row, *row, 1, 2, 0, 3);
      }
    }
    const bool beyond = octet >= system->num_octets;
    if (!beyond) end += system->octet_counts[octet];
    if (beyond && begin == end) break;
    RibbonPivotChoice choice;
    RowInFlight pivot[8];
    if (end - begin >= kFrontRows && ChoosePivots(begin, octet % 4, &choice)) [[likely]] {
      begin = EliminateRows(begin, end, octet % 4, choice, pivot);
    } else {
      // Empty rows get no pivot; drop them, because many of them would block others here.
      if (!DropEmptyRows(&begin, end)) return false;
      begin = EliminateFewRows(begin, end, octet % 4, pivot);
    }
    const auto first_column = static_cast<int>(octet % 4 * kRibbonOctet);
    if (beyond) {
      const size_t column = (octet - system->num_octets) * kRibbonOctet;
      for (int k = 0; k < 8; ++k) {
        const uint64_t row = ColumnsFrom(pivot + k, first_column + k);
        if (row == 0) continue;
        carried.coefficients[carried.count] = row << (column + static_cast<size_t>(k));
        carried.fingerprints[carried.count++] =
            LoadLittleEndian<uint32_t>(BytesOf(pivot + k) + kFingerprintByte);
      }
    } else {
#pragma GCC unroll 8
      for (int k = 0; k < 8; ++k) *pivots++ = ColumnsFrom(pivot + k, first_column + k);
      WritePlanes(pivot, groups, planes);
      planes += 8 * groups;
    }
  }
  return DropEmptyRows(&begin, end);
}

}  // namespace

#define BLOCKSIEVE_RIBBON_SOLVER(NAME, TARGET, SUBSTITUTE)                              \
  namespace {                                                                           \
  TARGET void NAME##Starts(const uint64_t* mixed, size_t num_rows, uint32_t multiplier, \
                           uint32_t num_octets, uint32_t fold, uint32_t* starts) {      \
    FindStarts(mixed, num_rows, multiplier, num_octets, fold, starts);                  \
  }                                                                                     \
  TARGET bool NAME##Eliminate(uint32_t fingerprint_columns, RibbonSystem* system) {     \
    return EliminateByOctets(fingerprint_columns, system);                              \
  }                                                                                     \
  TARGET void NAME##Substitute(const uint64_t* pivots, uint32_t fingerprint_columns,    \
                               const uint64_t* next, uint64_t* words) {                 \
    SUBSTITUTE(pivots, fingerprint_columns, next, words);                               \
  }                                                                                     \
  const RibbonSolver NAME = {&NAME##Starts, &NAME##Eliminate, &NAME##Substitute};       \
  }

BLOCKSIEVE_RIBBON_SOLVER(kScalar, , BackSubstituteByWords)
#if defined(__x86_64__)
BLOCKSIEVE_RIBBON_SOLVER(kAvx2, __attribute__((target("avx2,bmi,bmi2,popcnt"))),
                         BackSubstituteByWords)
BLOCKSIEVE_RIBBON_SOLVER(kAvx512, __attribute__((target("avx512f,avx512vl,bmi,bmi2,popcnt"))),
                         BackSubstituteAvx512)
#endif

const RibbonSolver& RibbonSolverFor(Kernel kernel) noexcept {
  assert(IsAvailable(kernel));
  switch (kernel) {
#if defined(__x86_64__)
    case Kernel::kAvx2:
      return kAvx2;
    case Kernel::kAvx512:
      return kAvx512;
#endif
    default:
      return kScalar;
  }
}

}  // namespace blocksieve::internal
