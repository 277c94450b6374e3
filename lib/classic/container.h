#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cassert>
#include <cstdint>

#include "blocksieve/bloom.h"
#include "blocksieve/bytes.h"
#include "blocksieve/status.h"

// The serialized form of classic and counting Bloom filters. lib/FORMAT.md is normative.
//
//   "BSC" | version (1) | cell bits (1) | k (1) | m (8) | design keys (8) | seed (8) | cells |
//   checksum (4)
//
// Cells are bits (cell bits = 1, a classic filter) or counters of 2, 4, 8 or 16 bits. All numbers
// have a fixed size, so that every filter has exactly one form.

namespace blocksieve::internal {

/// What a serialized filter says, and a copy of its cells.
struct BloomContainer {
  BloomLayout layout;
  uint32_t cell_bits = 1;
  OwnedBytes cells;
};

/// Size of `num_cells` cells in bytes. REQUIRES: num_cells * cell_bits < 2^64 - 7
constexpr uint64_t CellBytes(uint64_t num_cells, uint32_t cell_bits) noexcept {
  assert(num_cells <= (UINT64_MAX - 7) / cell_bits);
  return (num_cells * cell_bits + 7) / 8;
}

// All functions but WriteContainer may throw std::bad_alloc.

/// Checks the layout of a counting filter. Errors: InvalidArgument, naming what is out of range.
Status CheckCounters(const BloomLayout& layout, uint32_t counter_bits);

/// Allocates a zeroed array of cells. Errors: ResourceExhausted if out of memory.
/// REQUIRES: layout.Check() or, for counters, CheckCounters() is ok.
Result<OwnedBytes> AllocateCells(const BloomLayout& layout, uint32_t cell_bits);

/// Errors: InvalidArgument for a layout without bits; ResourceExhausted if out of memory.
Result<OwnedBytes> WriteContainer(const BloomLayout& layout, uint32_t cell_bits, ByteView cells);

/// Reads any bytes, checking all of them, before it allocates memory of about their size. Errors:
/// Corruption; NotSupported, also for counters instead of bits or the reverse; ResourceExhausted.
Result<BloomContainer> ReadContainer(bool has_counters, ByteView bytes);

}  // namespace blocksieve::internal
