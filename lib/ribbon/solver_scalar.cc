#include "lib/ribbon/solver.h"

#include <bit>
#include <cassert>
#include <cstddef>

#include "blocksieve/internal/kernels.h"
#include "lib/base/coding.h"

// Elimination eight columns at a time, by the method of the four Russians (Arlazarov, Dinic,
// Kronrod and Faradzhev, 1970). Compiled twice: for any processor, and for those that have AVX2,
// and with it instructions for shifts, trailing zeros and counting bits.
//
// Inserting row by row, each insertion is a chain of additions of random length, and most of the
// time goes into mispredictions at their ends. Here every row in flight takes part in every octet:
//
//   1. The first 16 rows in flight nearly always have pivots for all eight columns. Which, follows
//      from a byte of each: two words of 16 rows by four columns, without a branch.
//   2. The pivots are computed, and then all 16 sums of those of the first four columns, and of the
//      last four, ordered by the ones that they have in these columns.
//   3. Each row left adds the two sums that have the same ones as it has, and so loses all eight.
//
// No loop depends on the data but through the number of rows in flight.

namespace blocksieve::internal {
namespace {

/// A row in flight: twelve bytes of columns, from a multiple of 32 on, and four of fingerprint,
/// both little-endian. The ones of a row span 64 columns, so rows that start in the first 32 fit.
/// Bytes are read from memory: extracting them from vectors takes more instructions.
using RowInFlight = uint32_t __attribute__((vector_size(16), may_alias));

inline constexpr int kRowBytes = sizeof(RowInFlight);
inline constexpr size_t kFingerprintByte = 12;

/// Rows that are looked at for pivots: four bits of each are a word.
inline constexpr int kFrontRows = 16;
inline constexpr uint64_t kEveryFrontRow = 0x1111111111111111u;

BLOCKSIEVE_INLINE uint8_t* BytesOf(RowInFlight* row) noexcept {
  return reinterpret_cast<uint8_t*>(row);
}
BLOCKSIEVE_INLINE const uint8_t* BytesOf(const RowInFlight* row) noexcept {
  return reinterpret_cast<const uint8_t*>(row);
}

/// The row that lies `bytes` behind (or before) `rows`.
BLOCKSIEVE_INLINE const RowInFlight& RowAt(const RowInFlight* rows, std::ptrdiff_t bytes) noexcept {
  return *reinterpret_cast<const RowInFlight*>(BytesOf(rows) + bytes);
}

/// All sums of four rows.
struct RibbonSums {
  RowInFlight sum[16];

  RibbonSums() noexcept { sum[0] = RowInFlight{}; }

  /// Adds row `kRow` to the sums of those before it.
  template <int kRow>
  BLOCKSIEVE_INLINE void AddNext(RowInFlight row) noexcept {
#pragma GCC unroll 8
    for (int i = 0; i < 1 << kRow; ++i) sum[(1 << kRow) + i] = sum[i] ^ row;
  }

  /// Adds row `kRow` to the sums of those behind it.
  template <int kRow>
  BLOCKSIEVE_INLINE void AddPrevious(RowInFlight row) noexcept {
#pragma GCC unroll 8
    for (int i = 0; i < 16; i += 2 << kRow) sum[i + (1 << kRow)] = sum[i] ^ row;
  }
};

/// Which of the first rows become the pivots of an octet's columns. Four bits each: of `low` the
/// first four columns, of `high` the last four.
struct RibbonPivotChoice {
  int nibble[8];         // four times the number of the row
  uint64_t taken;        // bit 4 * (15 - i): row i became a pivot
  uint64_t sum_low[8];   // pivots of earlier columns to be added
  uint64_t sum_high[8];  // (from column 4 on)
  uint64_t low[4];       // ones in the octet after that
  uint64_t high[8];
};

/// Returns false if some column finds no pivot.
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
  // A product of rows that have a one and the nibble of the pivot is the nibble in each of these
  // rows. The pivot itself is among them, becomes zero and is not found again.
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

/// Computes the pivots, and their sums by the ones that these have in the first and in the last
/// four columns.
BLOCKSIEVE_INLINE void SumPivots(const RowInFlight* rows, const RibbonPivotChoice& choice,
                                 RowInFlight* pivot, RibbonSums* by_low,
                                 RibbonSums* by_high) noexcept {
  const auto row = [&](int k) { return RowAt(rows, kRowBytes / 4 * choice.nibble[k]); };
  // Forwards: pivots by the rows that they are sums of.
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

  // Backwards: freed from the ones in the columns of later pivots, so that they can be looked up by
  // their ones.
  by_high->AddPrevious<3>(pivot[7]);
  by_high->AddPrevious<2>(pivot[6] ^ by_high->sum[choice.high[6] & 8]);
  by_high->AddPrevious<1>(pivot[5] ^ by_high->sum[choice.high[5] & 12]);
  by_high->AddPrevious<0>(pivot[4] ^ by_high->sum[choice.high[4] & 14]);
  const auto freed = [&](int k) { return pivot[k] ^ by_high->sum[choice.high[k]]; };
  by_low->AddPrevious<3>(freed(3));
  by_low->AddPrevious<2>(freed(2) ^ by_low->sum[choice.low[2] & 8]);
  by_low->AddPrevious<1>(freed(1) ^ by_low->sum[choice.low[1] & 12]);
  by_low->AddPrevious<0>(freed(0) ^ by_low->sum[choice.low[0] & 14]);
}

/// Eliminates octet 0 ... 3 of the columns from 16 rows or more. Returns the new begin.
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
  // The next octet waits for those of the first rows that are left, so they come first.
  RowInFlight* to = begin + kFrontRows;
  for (uint64_t left = ~choice.taken & kEveryFrontRow; left != 0; left &= left - 1) {
    *--to = reduced(&RowAt(begin + kFrontRows - 1, -kRowBytes / 4 * std::countr_zero(left)));
  }
#pragma GCC unroll 4
  for (RowInFlight* row = begin + kFrontRows; row < end; ++row) *row = reduced(row);
  return to;
}

/// The same for any number of rows and of pivots, which are zero where there is none: about one
/// octet in a hundred, and the last rows of a chunk.
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

/// Drops rows that have no columns left, as copies of others; `begin` moves on. Returns false if
/// one of them has a fingerprint.
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

/// Gives rows the form of RowInFlight where they are.
BLOCKSIEVE_INLINE RowInFlight* PlaceRows(const RibbonRows& rows) noexcept {
  static_assert(sizeof(RibbonRow) == kRowBytes && alignof(RibbonRow) >= alignof(RowInFlight));
  // A local: for all the compiler knows, the bytes written could be the pointer.
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

/// The 64 columns of `row` from `column` < 32 on; it must have none before.
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
  // Rows in flight at the end are eliminated in the columns that follow, too: these pivots are what
  // is carried on, and if rows contradict each other, it shows.
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
      // Empty rows find no pivot, so if there are many, they will be in the way here.
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

// For processors without an instruction to count bits; x86 has a parity flag.
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
