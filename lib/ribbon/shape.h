#pragma once

#include <algorithm>
#include <cstdint>

#include "blocksieve/status.h"
#include "lib/block/filter_info.h"
#include "lib/block/seal.h"
#include "lib/ribbon/hash.h"

// The shape of a ribbon's payload, and the fields that store it. lib/FORMAT.md specifies both.

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
