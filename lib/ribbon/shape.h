#pragma once

#include <algorithm>
#include <cstdint>

#include "blocksieve/status.h"
#include "lib/block/filter_info.h"
#include "lib/block/seal.h"
#include "lib/ribbon/hash.h"

// The payload of a ribbon filter. lib/FORMAT.md is normative.
//
//   segments                                                                 | directory | bases
//
// Segment i holds slots 64i ... 64i+63, one 64-bit word per column, columns in order; bit k of a
// word is slot 64i + k. The first `narrow_segments` segments have `columns` columns, the others one
// more. The last segment, if it has only 8 * b < 64 slots, has words of b bytes.
//
// directory   empty for a single chunk, whose seed is in the footer; else one 16-bit entry per
//             chunk and one for the end: low 12 bits of the first virtual octet | seed << 12
// bases       empty for up to 32 chunks; else the first virtual octet of chunks 0, 32, 64 ...:
//             32 bits each
//
// Layout fields in the footer:
//
//   columns (5 bits), flags: wide segments (0x20), several chunks (0x40), 48 bytes of padding
//       before the first segment (0x80)
//   octets * 2 (varint), plus 1 with always-true chunks; an octet is 8 slots
//   number of chunks (varint) if there are several, else the seed of the only one (1)
//   narrow segments (varint), with wide segments only
//
// Fields in a short block, of one chunk and without padding; the payload's size gives the octets:
//
//   narrow segments (1), only if some but not all segments are wide
//   columns of narrow segments, or of all (5 bits); whether some but not all segments are wide
//       (1 bit); seed (4 bits); slots - keys (6 bits)

namespace blocksieve::internal {

inline constexpr uint32_t kRibbonSegment = 64;
inline constexpr uint64_t kMinRibbonOctets = kRibbonFold / kRibbonOctet;

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

/// Checks that a payload of this size can have this shape. Errors: Corruption.
Status CheckRibbonShape(const RibbonShape& shape, uint64_t payload_bytes);

/// append_fields and read_fields of FilterFormat.
void AppendRibbonFields(const FilterInfo& info, FooterBytes* footer) noexcept;
Status ReadRibbonFields(Decoder* fields, FilterInfo* info);

/// append_short_fields and read_short_fields of FilterFormat.
bool AppendShortRibbonFields(const FilterInfo& info, FooterBytes* footer) noexcept;
Status ReadShortRibbonFields(ByteView payload_and_fields, FilterInfo* info);

}  // namespace blocksieve::internal
