#pragma once

#include <cstddef>
#include <cstdint>

#include "blocksieve/internal/filter_view.h"
#include "lib/bloom/classic_positions.h"
#include "lib/bloom/counting_cells.h"

// Probes of classic and counting filters, for readers of blocks and for the filters themselves.

namespace blocksieve::internal {

/// Hashes that are worked on at a time: about the misses that a core keeps in flight.
inline constexpr size_t kCellBatch = 32;

/// Whether all cells of a hash are set; `Cells` are those of counting_cells.h.
template <class Cells>
bool AllSet(const Cells& cells, uint64_t num_bits, uint32_t num_hashes, uint64_t hash) noexcept {
  Positions positions(hash, num_bits);
  for (uint32_t j = 0; j < num_hashes; ++j) {
    if (cells.Load(positions.Next()) == 0) return false;
  }
  return true;
}

/// AllSet of many hashes. The first cell of each is fetched before any is looked at: half of all
/// absent keys, or more, are decided by it.
template <class Cells>
void AllSet(const Cells& cells, uint64_t num_bits, uint32_t num_hashes, const uint64_t* hashes,
            size_t count, bool* all_set) noexcept {
  for (size_t begin = 0; begin < count; begin += kCellBatch) {
    const size_t end = count - begin < kCellBatch ? count : begin + kCellBatch;
    for (size_t i = begin; i < end; ++i) cells.Prefetch(Positions(hashes[i], num_bits).Next());
    for (size_t i = begin; i < end; ++i) {
      all_set[i] = AllSet(cells, num_bits, num_hashes, hashes[i]);
    }
  }
}

extern const ProbeOps kClassicBloomProbes;
extern const ProbeOps kCountingBloomProbes;

}  // namespace blocksieve::internal
