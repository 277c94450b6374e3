#pragma once

#include <bit>
#include <cstdint>
#include <span>

#include "lib/base/coding.h"
#include "lib/bits/bit_codes.h"

// Cells that hold keys, as numbers that ascend, in Elias and Fano's code: the high bits in unary,
// where the cell of a query is found by counting zeros; and of each the low bits, as many as an
// even spread leaves. lib/FORMAT.md specifies it.

namespace blocksieve::internal {

/// Behind the bytes of cells are so many more, so that they are read a word at a time.
inline constexpr size_t kCellSlackBytes = 8;

/// The shape of `num` cells of `num_cells`, of which there are `cells_per_key` for each or a few
/// more. REQUIRES: 1 <= num <= num_cells, cells_per_key != 0
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

/// The position of the one that has `before` ones below it. REQUIRES: there is such a one
struct SelectByLoop {
  static unsigned One(uint64_t word, uint64_t before) noexcept {
    for (; before != 0; --before) word &= word - 1;
    return static_cast<unsigned>(std::countr_zero(word));
  }
};
#if defined(__x86_64__)
struct SelectByBmi2 {
  [[gnu::target("bmi,bmi2")]] static unsigned One(uint64_t word, uint64_t before) noexcept {
    return static_cast<unsigned>(
        std::countr_zero(__builtin_ia32_pdep_di(uint64_t{1} << before, word)));
  }
};
#endif

/// Walks through cells. REQUIRES: the shape's bits, and kCellSlackBytes behind
/// them, are there to be read from bit `first_bit` of `bytes` on.
template <class Select>
class CellsReader {
 public:
  CellsReader(const uint8_t* bytes, uint64_t first_bit, const CellsShape& shape) noexcept
      : bytes_(bytes), unary_(first_bit), low_(first_bit + shape.unary_bits), shape_(shape) {}

  /// Goes to the first cell that is not below `least`; false if there is none.
  bool Seek(uint64_t least) noexcept {
    const uint64_t high = least >> shape_.low_bits;
    position_ = high == 0 ? 0 : BehindZero(high - 1);
    index_ = position_ - high;
    for (bool found = Find(); found; found = Next()) {
      if (cell_ >= least) return true;
    }
    return false;
  }

  /// Goes to the next cell; false if there is none.
  bool Next() noexcept {
    ++position_;
    ++index_;
    return Find();
  }

  /// @{
  /// The cell, and how many are before it.
  uint64_t cell() const noexcept { return cell_; }
  uint64_t index() const noexcept { return index_; }
  /// @}

 private:
  static constexpr unsigned kLoadedBits = 57;

  uint64_t Load(uint64_t bit) const noexcept {
    return LoadLittleEndian<uint64_t>(bytes_ + bit / 8) >> (bit % 8) & LowBits(kLoadedBits);
  }

  // The cell of the first one from position_ on.
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

  // The position behind zero number `zeros`, counted from 0.
  uint64_t BehindZero(uint64_t zeros) const noexcept {
    for (uint64_t position = 0; position < shape_.unary_bits; position += kLoadedBits) {
      const uint64_t word = ~Load(unary_ + position) & LowBits(kLoadedBits);
      const auto here = static_cast<uint64_t>(std::popcount(word));
      if (zeros < here) {
        return position + Select::One(word, zeros) + 1;
      }
      zeros -= here;
    }
    return shape_.unary_bits;
  }

  const uint8_t* bytes_;
  uint64_t unary_;  // first bits of both parts
  uint64_t low_;
  CellsShape shape_;
  uint64_t position_ = 0;  // in the unary part
  uint64_t index_ = 0;
  uint64_t cell_ = 0;
};

}  // namespace blocksieve::internal
