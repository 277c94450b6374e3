#pragma once

#include <cstdint>

namespace blocksieve::internal {

/// Slots are given to chunks in multiples of this.
inline constexpr uint32_t kRibbonOctet = 8;

/// Chunks per base; their slots stay below 2^12 octets.
inline constexpr uint32_t kRibbonGroup = 32;

/// All that has to be known about the payload of a ribbon to find one's way through it;
/// lib/ribbon/shape.h has a drawing of it.
struct RibbonShape {
  uint32_t columns = 0;          ///< Result bits of narrow segments (r); wide ones have one more.
  uint32_t seed = 0;             ///< Of the chunk if there is only one.
  uint64_t octets = 0;           ///< Slots / 8; >= 4.
  uint64_t chunks = 1;           ///< Each solved by itself, with a seed of its own; >= 1.
  uint64_t narrow_segments = 0;  ///< The others, behind them, are wide; <= segments().
  bool has_open_chunks = false;  ///< Chunks of no slots match everything.

  uint64_t slots() const noexcept { return octets * kRibbonOctet; }
  uint64_t segments() const noexcept { return (octets + 7) / 8; }
  bool has_wide_segments() const noexcept { return narrow_segments < segments(); }
  uint32_t most_columns() const noexcept { return columns + (has_wide_segments() ? 1 : 0); }

  uint64_t SegmentBytes() const noexcept {
    const uint64_t wide = segments() - narrow_segments;
    const uint64_t missing = segments() * 8 - octets;  // bytes of a column that the last lacks
    return (segments() * columns + wide) * 8 - missing * most_columns();
  }
  uint64_t DirectoryBytes() const noexcept { return chunks == 1 ? 0 : (chunks + 1) * 2; }
  uint64_t BaseBytes() const noexcept {
    return chunks <= kRibbonGroup ? 0 : (chunks + kRibbonGroup - 1) / kRibbonGroup * 4;
  }
  uint64_t PayloadBytes() const noexcept { return SegmentBytes() + DirectoryBytes() + BaseBytes(); }
};

}  // namespace blocksieve::internal
