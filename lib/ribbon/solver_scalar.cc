#include "lib/ribbon/solver.h"

#include <bit>
#include <cassert>
#include <cstddef>

#include "lib/base/coding.h"
#include "lib/base/kernels.h"
#include "lib/ribbon/octet_pivots.h"

// Elimination eight columns at a time, by the method of the four Russians (Arlazarov, Dinic,
// Kronrod and Faradzhev, 1970). Compiled twice: for any processor, and for AVX2, which implies
// instructions for shifts, trailing zeros and counting bits.
//
// Rejected: inserting row by row. Each insertion is a chain of additions of random length, and most
// of the time is spent in mispredictions at their ends. Here every row in flight takes part in
// every octet:
//
//   1. The first 16 rows in flight nearly always have pivots for all eight columns. One byte of
//   each
//      row determines them: two words of 16 rows by four columns, without a branch.
//   2. Compute the pivots, and all 16 sums of those of the first four columns and of those of the
//      last four, indexed by the ones that they have in these columns.
//   3. Each other row adds the two sums that have the same ones as the row, which clears all eight.
//
// Loops depend on the number of rows in flight, but not on other data.

namespace blocksieve::internal {
namespace {

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
BLOCKSIEVE_INLINE RowInFlight* PlaceRows(const RibbonRows& rows) noexcept {
  static_assert(sizeof(RibbonRow) == kRowBytes && alignof(RibbonRow) >= alignof(RowInFlight));
  // A local, because the compiler must assume that writing bytes changes rows.rows.
  RibbonRow* const row = rows.rows;
  for (size_t i = 0, count = rows.num_rows; i < count; ++i) {
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

BLOCKSIEVE_INLINE RibbonOutcome EliminateByOctets(const RibbonRows& rows,
                                                  uint32_t fingerprint_columns,
                                                  RibbonEchelon* echelon) noexcept {
  const uint32_t groups = RibbonPlaneGroups(fingerprint_columns);
  uint64_t* pivots = echelon->pivots;
  uint8_t* planes = echelon->planes;
  RibbonCarried& carried = echelon->carried;
  carried.count = 0;
  RowInFlight* begin = PlaceRows(rows);
  RowInFlight* end = begin;
  // Rows in flight at the end are also eliminated in the columns that follow. These pivots are the
  // carried rows, and contradictions are found.
  for (size_t octet = 0; octet < rows.num_octets + kRibbonWidth / kRibbonOctet; ++octet) {
    if (octet % 4 == 0 && octet != 0) {
      for (RowInFlight* row = begin; row != end; ++row) {
        *row = __builtin_shufflevector(*row, *row, 1, 2, 0, 3);
      }
    }
    const bool beyond = octet >= rows.num_octets;
    if (!beyond) end += rows.octet_counts[octet];
    if (beyond && begin == end) break;
    RibbonPivotChoice choice;
    RowInFlight pivot[8];
    if (end - begin >= kFrontRows && ChoosePivots(begin, octet % 4, &choice)) [[likely]] {
      begin = EliminateRows(begin, end, octet % 4, choice, pivot);
    } else {
      // Empty rows get no pivot; drop them, because many of them would block others here.
      if (!DropEmptyRows(&begin, end)) return RibbonOutcome::kContradiction;
      begin = EliminateFewRows(begin, end, octet % 4, pivot);
    }
    const auto first_column = static_cast<int>(octet % 4 * kRibbonOctet);
    if (beyond) {
      const size_t column = (octet - rows.num_octets) * kRibbonOctet;
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
  return DropEmptyRows(&begin, end) ? RibbonOutcome::kSolved : RibbonOutcome::kContradiction;
}

BLOCKSIEVE_INLINE uint64_t CountedParity(uint64_t x) noexcept {
  return static_cast<uint64_t>(__builtin_popcountll(x)) & 1;
}

// For processors without a popcount instruction; x86 has a parity flag.
BLOCKSIEVE_INLINE uint64_t FoldedParity(uint64_t x) noexcept {
  return static_cast<uint64_t>(__builtin_parityll(x));
}

}  // namespace

#define BLOCKSIEVE_RIBBON_SOLVER(NAME, PARITY, TARGET)                                       \
  namespace {                                                                                \
  TARGET void NAME##Starts(const uint64_t* mixed, size_t num_rows, uint32_t multiplier,      \
                           uint32_t num_octets, uint32_t fold, uint32_t* starts) {           \
    FindStartsOf(mixed, num_rows, multiplier, num_octets, fold, starts);                     \
  }                                                                                          \
  TARGET RibbonOutcome NAME##Eliminate(const RibbonRows& rows, uint32_t fingerprint_columns, \
                                       RibbonEchelon* echelon) {                             \
    return EliminateByOctets(rows, fingerprint_columns, echelon);                            \
  }                                                                                          \
  TARGET void NAME##Substitute(const uint64_t* pivots, uint32_t fingerprint_columns,         \
                               const uint64_t* next, uint64_t* words) {                      \
    BackSubstituteByWords<PARITY>(pivots, fingerprint_columns, next, words);                 \
  }                                                                                          \
  }                                                                                          \
  const RibbonSolver NAME = {&NAME##Starts, &NAME##Eliminate, &NAME##Substitute};

BLOCKSIEVE_RIBBON_SOLVER(kRibbonSolverScalar, FoldedParity, )
#if defined(__x86_64__)
BLOCKSIEVE_RIBBON_SOLVER(kRibbonSolverAvx2, CountedParity,
                         __attribute__((target("avx2,bmi,bmi2,popcnt"))))
#endif

const RibbonSolver& RibbonSolverFor(Kernel kernel) noexcept {
  assert(IsAvailable(kernel));
  switch (kernel) {
#if defined(__x86_64__)
    case Kernel::kAvx2:
      return kRibbonSolverAvx2;
    case Kernel::kAvx512:
      return kRibbonSolverAvx512;
#endif
    default:
      return kRibbonSolverScalar;
  }
}

}  // namespace blocksieve::internal
