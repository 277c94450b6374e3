#pragma once

#include <algorithm>
#include <cstdint>

#include "lib/ribbon/hash.h"

// The payload of a ribbon filter (lib/FORMAT.md is normative):
//
//   segments                                                                 | directory | bases
//
// Segment i holds slots 64i ... 64i+63, one 64-bit word per column, columns in order; bit k of a
// word is slot 64i + k. The first `narrow_segments` segments have `columns` columns, the others one
// more. The last segment, if it has only 8 * b < 64 slots, has words of b bytes.
//
// directory   nothing for a single chunk, whose seed is in the footer; else one 16-bit entry per
//             chunk and one for the end: low 12 bits of the first virtual octet | seed << 12
// bases       nothing for up to 32 chunks; else the first virtual octet of every 32nd chunk, the
//             very first included: 32 bits each

namespace blocksieve::internal {

inline constexpr uint32_t kRibbonSegment = 64;

/// Chunks per base; their slots stay below 2^12 octets.
inline constexpr uint32_t kRibbonGroup = 32;

/// All that has to be known about a payload to find one's way through it.
struct RibbonShape {
  uint32_t columns = 0;          ///< Of narrow segments; 1 ... kMaxRibbonColumns.
  uint32_t seed = 0;             ///< Of the chunk if there is only one.
  uint64_t octets = 0;           ///< Slots / 8; >= 4.
  uint64_t chunks = 1;           ///< >= 1.
  uint64_t narrow_segments = 0;  ///< <= segments().
  bool has_open_chunks = false;  ///< Chunks of no slots match everything.

  uint64_t slots() const noexcept { return octets * kRibbonOctet; }
  uint64_t segments() const noexcept { return (octets + 7) / 8; }
  uint32_t most_columns() const noexcept {
    return columns + (narrow_segments < segments() ? 1 : 0);
  }

  uint64_t SegmentBytes() const noexcept {
    const uint64_t wide = segments() - narrow_segments;
    const uint64_t missing = segments() * 8 - octets;  // bytes of a column that the last lacks
    return (segments() * columns + wide) * 8 - missing * (columns + (wide > 0 ? 1 : 0));
  }
  uint64_t DirectoryBytes() const noexcept { return chunks == 1 ? 0 : (chunks + 1) * 2; }
  uint64_t BaseBytes() const noexcept {
    return chunks <= kRibbonGroup ? 0 : (chunks + kRibbonGroup - 1) / kRibbonGroup * 4;
  }
  uint64_t PayloadBytes() const noexcept { return SegmentBytes() + DirectoryBytes() + BaseBytes(); }
};

inline constexpr uint64_t kMinRibbonOctets = kRibbonFold / kRibbonOctet;

/// Share of absent keys that are tested against columns + 1 columns: those that start in a wide
/// segment. Start s stands for virtual slot s + 32, but all below for slot 0.
inline double RibbonWideShare(const RibbonShape& shape) noexcept {
  if (shape.narrow_segments == 0) return 1;
  if (shape.narrow_segments >= shape.segments()) return 0;
  const auto slots = static_cast<double>(shape.slots());
  const double first = static_cast<double>(shape.narrow_segments * kRibbonSegment) + kRibbonFold;
  return std::max(0.0, (slots - first) / slots);
}

/// The most narrow segments with which RibbonWideShare is `wide_share` at least.
inline uint64_t RibbonNarrowSegments(uint64_t octets, double wide_share) noexcept {
  const uint64_t segments = (octets + 7) / 8;
  if (wide_share <= 0) return segments;
  const double narrow_slots =
      static_cast<double>(octets * kRibbonOctet) * (1 - wide_share) - kRibbonFold;
  return narrow_slots < kRibbonSegment ? 0 : static_cast<uint64_t>(narrow_slots) / kRibbonSegment;
}

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
