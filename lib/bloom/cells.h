#pragma once

#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>

#include "blocksieve/bloom.h"
#include "blocksieve/bytes.h"
#include "blocksieve/status.h"
#include "lib/base/coding.h"
#include "lib/block/kind.h"
#include "lib/bloom/classic_positions.h"

// The bits of classic filters and the counters (2, 4, 8 or 16 bits) of counting filters, in an
// array of bytes from the low bits of the first byte on. Counters of 16 bits are little-endian; no
// other cell crosses a byte.

namespace blocksieve::internal {

constexpr bool IsCounterBits(uint32_t cell_bits) noexcept {
  return cell_bits == 2 || cell_bits == 4 || cell_bits == 8 || cell_bits == 16;
}

/// Size of `num_cells` cells in bytes. REQUIRES: num_cells * cell_bits < 2^64.
constexpr uint64_t CellBytes(uint64_t num_cells, uint32_t cell_bits) noexcept {
  assert(num_cells <= (UINT64_MAX - 7) / cell_bits);
  return (num_cells * cell_bits + 7) / 8;
}

/// Allocates a zeroed array of cells. Errors: ResourceExhausted if out of memory.
Result<OwnedBytes> AllocateCells(const BloomLayout& layout, uint32_t cell_bits);

/// BloomArray::EstimateCardinality for that many set cells. REQUIRES: num_set <= layout.num_bits
CardinalityEstimate EstimateCardinality(const BloomLayout& layout, uint64_t num_set) noexcept;

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

  /// Writes cell i. REQUIRES: `data` is the array of these cells; `value` fits a cell.
  void Store(uint8_t* data, uint64_t i, uint32_t value) const noexcept {
    assert(value < uint64_t{1} << (1u << shift_));
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

/// Number of hashes in a batch: about the number of misses that a core keeps in flight.
inline constexpr size_t kCellBatch = 32;

/// Whether all cells of a hash are set. `Cells` is one of the classes above.
template <class Cells>
bool AllSet(const Cells& cells, uint64_t num_bits, uint32_t num_probes, uint64_t hash) noexcept {
  Positions positions(hash, num_bits);
  for (uint32_t j = 0; j < num_probes; ++j) {
    if (cells.Load(positions.Next()) == 0) return false;
  }
  return true;
}

/// AllSet of many hashes. Prefetches the first cell of each, which decides at least half of all
/// absent keys.
template <class Cells>
void AllSet(const Cells& cells, uint64_t num_bits, uint32_t num_probes, const uint64_t* hashes,
            size_t count, bool* all_set) noexcept {
  for (size_t begin = 0; begin < count; begin += kCellBatch) {
    const size_t end = count - begin < kCellBatch ? count : begin + kCellBatch;
    for (size_t i = begin; i < end; ++i) cells.Prefetch(Positions(hashes[i], num_bits).Next());
    for (size_t i = begin; i < end; ++i) {
      all_set[i] = AllSet(cells, num_bits, num_probes, hashes[i]);
    }
  }
}

// Filter blocks of classic and counting filters, whose payload is the array.

extern const KindEntry kClassicBloomKind;
extern const KindEntry kCountingBloomKind;

struct BloomCells {
  BloomLayout layout;
  uint32_t cell_bits = 1;
  OwnedBytes cells;
};

/// Writes the block of an array with `num_set` set cells. Errors: ResourceExhausted if out of
/// memory.
Result<OwnedBytes> WriteBloomBlock(FilterKind kind, const BloomLayout& layout, uint32_t cell_bits,
                                   ByteView cells, uint64_t num_set);

/// Reads a block and checks all of it, including the payload checksum and the bits after the last
/// cell. Errors: Corruption; NotSupported, also for another kind; ResourceExhausted.
Result<BloomCells> ReadBloomBlock(FilterKind kind, ByteView block);

}  // namespace blocksieve::internal
