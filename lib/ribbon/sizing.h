#pragma once

#include <algorithm>
#include <cstdint>

#include "blocksieve/status.h"
#include "lib/block/filter_info.h"
#include "lib/ribbon/shape.h"

// Sizing of the ribbon needs no table: r columns give an FPR of 2^-r, and if a share of the keys
// has one more column, it is the mean of the two. Rows are a sixteenth of a column apart, as those
// of the tables are a sixteenth of a bit.

namespace blocksieve::internal {

Result<Layout> ChooseRibbonLayout(double target_fpr);
Result<Layout> RibbonLayoutForBitsPerKey(double bits_per_key);

/// What the builder takes for this layout, which may have any numbers: the row above it, or the
/// last.
Layout NearestRibbonLayout(const Layout& layout) noexcept;

/// Share of the keys, in [0, 1), that have one more column than layout.num_probes.
inline double RibbonWideShare(const Layout& layout) noexcept {
  return layout.bits_per_key - layout.num_probes;
}

/// FPR of `columns` columns, of which a share of the keys has one more.
double RibbonFpr(uint32_t columns, double wide_share) noexcept;

/// The shape that is to be expected of one of the rows.
RibbonShape ExpectedRibbonShape(const Layout& layout, uint64_t num_keys) noexcept;

/// The payload that is to be expected; within 1 % or a few bytes of the actual one.
uint64_t RibbonPayloadBytes(const Layout& layout, uint64_t num_keys) noexcept;

/// Its inverse.
uint64_t MaxRibbonKeys(const Layout& layout, uint64_t payload_bytes) noexcept;

/// Chunks for `num_keys` keys. A chunk's directory entry costs 16 bits, so more keys per chunk save
/// space; but the larger the chunk, the more seeds have to be tried, and from 1,400 keys on 16 are
/// too few.
inline constexpr uint64_t kRibbonChunkKeys = 704;

/// Chunks per shard, which is what the builder works on at a time: 45,000 hashes are 360 KB, which
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
  // Rounded up, so that no more keys ever take less space.
  return {shards, (wanted + shards - 1) / shards};
}

}  // namespace blocksieve::internal
