#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>

#include "blocksieve/sizing.h"
#include "blocksieve/status.h"
#include "lib/ribbon/shape.h"

// Sizing of the ribbon needs no table: r columns give an FPR of 2^-r, and a share of the keys with
// one more column gives the weighted mean. Rows are 1/16 column apart, as those of the tables are
// 1/16 bit.

namespace blocksieve::internal {

/// The row that the builder uses for a layout with arbitrary numbers: the next larger, or the last.
Layout NearestRibbonLayout(const Layout& layout) noexcept;

/// Share of the keys, in [0, 1), that have one more column than layout.num_probes.
inline double RibbonWideShare(const Layout& layout) noexcept {
  return layout.bits_per_key - layout.num_probes;
}

/// FPR of `columns` columns, if a share of the keys has one more.
double RibbonFpr(uint32_t columns, double wide_share) noexcept;

/// The expected shape of a filter. REQUIRES: `layout` is a row.
RibbonShape ExpectedRibbonShape(const Layout& layout, uint64_t num_keys) noexcept;

/// Target number of keys per chunk. A chunk's directory entry takes 16 bits, so larger chunks save
/// space, but they need more seeds, and from 1,400 keys on 16 seeds are too few.
inline constexpr uint64_t kRibbonChunkKeys = 704;

/// Chunks per shard. The builder processes one shard at a time: 45,000 hashes are 360 KB, which
/// leaves room in the second-level cache.
inline constexpr uint64_t kRibbonShardChunks = 64;

struct RibbonChunks {
  uint64_t shards;
  uint64_t chunks_per_shard;
  uint64_t total() const noexcept { return shards * chunks_per_shard; }
};

inline RibbonChunks ChooseRibbonChunks(uint64_t num_keys) noexcept {
  const uint64_t wanted =
      std::max<uint64_t>(1, (num_keys + kRibbonChunkKeys / 2) / kRibbonChunkKeys);
  const uint64_t shards = (wanted + kRibbonShardChunks - 1) / kRibbonShardChunks;
  // Rounded up, so that more keys never take less space.
  return {shards, (wanted + shards - 1) / shards};
}

}  // namespace blocksieve::internal
