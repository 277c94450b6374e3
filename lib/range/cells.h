#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <bit>
#include <cstdint>

#include "lib/base/coding.h"
#include "lib/bits/bit_codes.h"

// The ascending numbers of occupied cells in Elias-Fano code: the high bits in unary, where
// counting zeros finds the cell of a query, then the low bits, as many as an even distribution
// leaves. lib/FORMAT.md specifies it.

namespace blocksieve::internal {

/// Readable bytes after the bytes of cells, so that cells can be read a word at a time.
inline constexpr size_t kCellSlackBytes = 8;

/// Shape of `num` occupied cells among `num_cells`, about `cells_per_key` for each occupied one.
/// REQUIRES: 1 <= num <= num_cells, cells_per_key != 0
struct CellsShape {
  CellsShape(uint64_t num, uint64_t num_cells, uint64_t cells_per_key) noexcept
      : count(num),
        low_bits(static_cast<unsigned>(std::bit_width(cells_per_key) - 1)),
        unary_bits(num + ((num_cells - 1) >> low_bits) + 1) {}

  uint64_t num_bits() const noexcept { return unary_bits + count * low_bits; }

  uint64_t count;
  unsigned low_bits;
  uint64_t unary_bits;
};

/// Position of the one bit that has `before` one bits below it, which must exist.
inline unsigned SelectByLoop(uint64_t word, uint64_t before) noexcept {
  for (; before != 0; --before) word &= word - 1;
  return static_cast<unsigned>(std::countr_zero(word));
}
#if defined(__x86_64__)
[[gnu::target("bmi,bmi2")]] inline unsigned SelectByBmi2(uint64_t word, uint64_t before) noexcept {
  return static_cast<unsigned>(
      std::countr_zero(__builtin_ia32_pdep_di(uint64_t{1} << before, word)));
}
#endif

/// Iterates over occupied cells. REQUIRES: from bit `first_bit` of `bytes`, the shape's bits and
/// kCellSlackBytes after them are readable.
template <unsigned (*kSelect)(uint64_t, uint64_t)>
class CellsReader {
 public:
  CellsReader(const uint8_t* bytes, uint64_t first_bit, const CellsShape& shape) noexcept
      : bytes_(bytes), unary_(first_bit), low_(first_bit + shape.unary_bits), shape_(shape) {}

  /// Advances to the first cell that is at least `min_cell`; false if there is none.
  bool Seek(uint64_t min_cell) noexcept {
    const uint64_t high = min_cell >> shape_.low_bits;
    position_ = high == 0 ? 0 : AfterZero(high - 1);
    index_ = position_ - high;
    for (bool found = Find(); found; found = Next()) {
      if (cell_ >= min_cell) return true;
    }
    return false;
  }

  /// Advances to the next cell; false if there is none.
  bool Next() noexcept {
    ++position_;
    ++index_;
    return Find();
  }

  /// @{
  /// Number of the cell, and number of occupied cells before it.
  uint64_t cell() const noexcept { return cell_; }
  uint64_t index() const noexcept { return index_; }
  /// @}

 private:
  static constexpr unsigned kLoadedBits = 57;

  uint64_t Load(uint64_t bit) const noexcept {
    return LoadLittleEndian<uint64_t>(bytes_ + bit / 8) >> (bit % 8) & LowBits(kLoadedBits);
  }

  // Decodes the cell of the first one bit from position_ on.
  bool Find() noexcept {
    if (index_ >= shape_.count) return false;
    while (position_ < shape_.unary_bits) {
      const uint64_t ones = Load(unary_ + position_);
      if (ones == 0) {
        position_ += kLoadedBits;
        continue;
      }
      position_ += static_cast<uint64_t>(std::countr_zero(ones));
      if (position_ >= shape_.unary_bits) return false;
      const uint64_t low = Load(low_ + index_ * shape_.low_bits) & LowBits(shape_.low_bits);
      cell_ = (position_ - index_) << shape_.low_bits | low;
      return true;
    }
    return false;
  }

  // The position after zero bit number `zeros`, counted from 0.
  uint64_t AfterZero(uint64_t zeros) const noexcept {
    const uint8_t* bytes = bytes_ + unary_ / 8;
    const unsigned before = unary_ % 8;  // bits of the first byte that precede the unary part
    uint64_t not_zeros = LowBits(before);
    for (uint64_t first = 0; first < before + shape_.unary_bits; first += 64, bytes += 8) {
      const uint64_t word = ~(LoadLittleEndian<uint64_t>(bytes) | not_zeros);
      const auto here = static_cast<uint64_t>(std::popcount(word));
      if (zeros < here) return first + kSelect(word, zeros) + 1 - before;
      zeros -= here;
      not_zeros = 0;
    }
    return shape_.unary_bits;
  }

  const uint8_t* bytes_;
  uint64_t unary_;  // first bit of each part
  uint64_t low_;
  CellsShape shape_;
  uint64_t position_ = 0;  // in the unary part
  uint64_t index_ = 0;
  uint64_t cell_ = 0;
};

}  // namespace blocksieve::internal
