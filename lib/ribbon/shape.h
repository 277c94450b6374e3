#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>

#include "blocksieve/sizing.h"
#include "lib/base/kernels.h"
#include "lib/block/footer.h"
#include "lib/hash/hash_list.h"
#include "lib/ribbon/hash.h"

// The shape of a ribbon's payload, and the fields that store it. lib/FORMAT.md specifies both.

namespace blocksieve::internal {

inline constexpr uint32_t kRibbonSegment = 64;
inline constexpr uint64_t kMinRibbonOctets = kRibbonFold / kRibbonOctet;

/// The layout of a ribbon's payload, as in lib/FORMAT.md.
struct RibbonShape {
  uint32_t columns = 0;          ///< Result bits of narrow segments (r); wide ones have one more.
  uint32_t seed = 0;             ///< Seed of the chunk if there is only one.
  uint64_t octets = 0;           ///< Slots / 8; >= 4.
  uint64_t chunks = 1;           ///< Number of chunks, each solved with its own seed; >= 1.
  uint64_t narrow_segments = 0;  ///< They precede the wide segments. <= segments().
  bool has_always_true_chunks = false;  ///< Chunks without slots match everything.
  uint32_t padding_bytes = 0;           ///< Before the payload: 0 or 48.

  /// @{
  /// Counts, and sizes in bytes of the parts of the payload, computed from the fields.
  uint64_t slots() const noexcept { return octets * kRibbonOctet; }
  uint64_t segments() const noexcept { return (octets + 7) / 8; }
  bool has_wide_segments() const noexcept { return narrow_segments < segments(); }
  bool is_mixed() const noexcept { return narrow_segments > 0 && has_wide_segments(); }
  uint32_t max_columns() const noexcept { return columns + (has_wide_segments() ? 1 : 0); }

  uint64_t SegmentBytes() const noexcept {
    const uint64_t wide = segments() - narrow_segments;
    const uint64_t missing = segments() * 8 - octets;  // bytes of a column that the last lacks
    return (segments() * columns + wide) * 8 - missing * max_columns();
  }
  uint64_t DirectoryBytes() const noexcept { return chunks == 1 ? 0 : (chunks + 1) * 2; }
  uint64_t BaseBytes() const noexcept {
    return chunks <= kRibbonGroup ? 0 : (chunks + kRibbonGroup - 1) / kRibbonGroup * 4;
  }
  uint64_t PayloadBytes() const noexcept { return SegmentBytes() + DirectoryBytes() + BaseBytes(); }
  /// @}
};

/// Share of absent keys that are tested against columns + 1 columns, because they start in a wide
/// segment. Start s is virtual slot s + 32, but start 0 is all virtual slots up to 32.
inline double RibbonWideShare(const RibbonShape& shape) noexcept {
  if (shape.narrow_segments == 0) return 1;
  if (shape.narrow_segments >= shape.segments()) return 0;
  const auto slots = static_cast<double>(shape.slots());
  const double first = static_cast<double>(shape.narrow_segments * kRibbonSegment) + kRibbonFold;
  return std::max(0.0, (slots - first) / slots);
}

/// The maximum number of narrow segments with which RibbonWideShare is at least `wide_share`.
inline uint64_t RibbonNarrowSegments(uint64_t octets, double wide_share) noexcept {
  const uint64_t segments = (octets + 7) / 8;
  if (wide_share <= 0) return segments;
  const double narrow_slots =
      static_cast<double>(octets * kRibbonOctet) * (1 - wide_share) - kRibbonFold;
  return narrow_slots < kRibbonSegment ? 0 : static_cast<uint64_t>(narrow_slots) / kRibbonSegment;
}

/// Checks that a payload of this size can have this shape.
Problem CheckRibbonShape(const RibbonShape& shape, uint64_t payload_bytes) noexcept;

/// Appends the fields of a shape. If all segments are wide, they are stored as narrow ones with one
/// more column.
void AppendRibbonFields(const RibbonShape& shape, FieldBytes* fields) noexcept;

/// Reads fields. CheckRibbonShape must follow; PayloadBytes does not overflow before.
Problem ReadRibbonFields(Decoder* fields, RibbonShape* shape) noexcept;

/// Appends the fields of a short block; nothing if the shape does not fit them.
void AppendShortRibbonFields(const RibbonShape& shape, uint64_t num_keys,
                             FieldBytes* fields) noexcept;

// Sizing of the ribbon needs no table: r columns give an FPR of 2^-r, and a share of the keys with
// one more column gives the weighted mean. Rows are 1/16 column apart, as those of the tables are
// 1/16 bit.

/// Share of the keys, in [0, 1), that have one more column than layout.num_probes.
inline double RibbonWideShare(const Layout& layout) noexcept {
  return layout.bits_per_key - layout.num_probes;
}

/// FPR of `columns` columns, if a share of the keys has one more.
double RibbonFpr(uint32_t columns, double wide_share) noexcept;

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

/// Size of the output buffer of BuildRibbon for `num_keys` keys: payload and working space.
uint64_t RibbonCapacity(const Layout& layout, uint64_t num_keys) noexcept;

/// Memory that BuildRibbon uses besides `hashes` and its output. It frees hashes as it proceeds, so
/// that the total never exceeds theirs by more than this.
uint64_t RibbonWorkingBytes(const Layout& layout, uint64_t num_keys) noexcept;

/// Writes the payload of a ribbon filter of all hashes to `out`. Consumes the hashes unless `keep`.
/// The same hashes, in any order, give the same bytes on every kernel. `layout` has the number of
/// columns, and the share of keys with one more.
/// REQUIRES: hashes->size() > 0; RibbonCapacity zero bytes at `out`. Throws std::bad_alloc.
RibbonShape BuildRibbon(HashList* hashes, bool keep, const Layout& layout, Kernel kernel,
                        uint8_t* out);

}  // namespace blocksieve::internal
