#pragma once

#include <bit>
#include <cstdint>

#include "lib/base/coding.h"

// Bits, and counters of 2, 4, 8 or 16 bits, in an array of bytes: cell i is the i-th from the low
// bits of the first byte on. No cell crosses a byte but the ones of 16 bits, which are
// little-endian.

namespace blocksieve::internal {

constexpr bool IsCounterBits(uint32_t cell_bits) noexcept {
  return cell_bits == 2 || cell_bits == 4 || cell_bits == 8 || cell_bits == 16;
}

/// Bytes of so many cells. REQUIRES: the bits of all are less than 2^64.
constexpr uint64_t CellBytes(uint64_t num_cells, uint32_t cell_bits) noexcept {
  return (num_cells * cell_bits + 7) / 8;
}

class BitCells {
 public:
  explicit BitCells(const uint8_t* data, uint32_t /*cell_bits*/ = 1) noexcept : data_(data) {}
  uint32_t Load(uint64_t i) const noexcept { return data_[i / 8] >> (i % 8) & 1u; }
  void Prefetch(uint64_t i) const noexcept { __builtin_prefetch(data_ + i / 8); }

 private:
  const uint8_t* data_;
};

class CounterCells {
 public:
  CounterCells(const uint8_t* data, uint32_t cell_bits) noexcept
      : data_(data), shift_(static_cast<uint32_t>(std::countr_zero(cell_bits))) {}

  uint32_t Load(uint64_t i) const noexcept {
    if (shift_ == 4) return LoadLittleEndian<uint16_t>(data_ + 2 * i);
    return data_[ByteOf(i)] >> BitOf(i) & Mask();
  }
  void Prefetch(uint64_t i) const noexcept { __builtin_prefetch(data_ + ByteOf(i)); }

  /// REQUIRES: `data`, whose cells these are, may be written; `value` fits a cell.
  void Store(uint8_t* data, uint64_t i, uint32_t value) const noexcept {
    if (shift_ == 4) return StoreLittleEndian(data + 2 * i, static_cast<uint16_t>(value));
    uint8_t& byte = data[ByteOf(i)];
    byte = static_cast<uint8_t>((byte & ~(Mask() << BitOf(i))) | value << BitOf(i));
  }

 private:
  uint64_t ByteOf(uint64_t i) const noexcept { return i << shift_ >> 3; }
  uint32_t BitOf(uint64_t i) const noexcept { return static_cast<uint32_t>(i << shift_) & 7; }
  uint32_t Mask() const noexcept { return (1u << (1u << shift_)) - 1; }

  const uint8_t* data_;
  uint32_t shift_;  // cells have 2^shift_ bits
};

}  // namespace blocksieve::internal
