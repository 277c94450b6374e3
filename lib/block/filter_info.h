#pragma once

#include <cstddef>
#include <cstdint>

#include "blocksieve/bytes.h"
#include "blocksieve/sizing.h"
#include "blocksieve/status.h"

namespace blocksieve {

/// Written into the footer of a filter for points. Readers take a higher one for "may match".
inline constexpr uint8_t kFilterFormatVersion = 1;

/// Written behind a filter block that is followed by a part for ranges (range_filter.h).
inline constexpr uint8_t kRangeFormatVersion = 2;
/// Written into the short footer of a small ribbon.
inline constexpr uint8_t kShortFormatVersion = 3;
/// The newest version that readers of blocks know.
inline constexpr uint8_t kNewestBlockVersion = kShortFormatVersion;

/// Zero bytes at the end of every block, which stock RocksDB reads as "no probes: always may
/// match".
inline constexpr size_t kZeroTailBytes = 5;

/// Whether the last five bytes are zero, as they are in every blocksieve filter and in RocksDB's
/// "always may match". A block that ends otherwise is another program's filter.
bool HasFilterBlockTail(ByteView block) noexcept;

/// Blocks are shorter than this: readers of RocksDB cast their lengths to 32 bits.
inline constexpr uint64_t kMaxFilterBlockBytes = UINT64_C(0xffffffff);

/// All that has to be known about the payload of a ribbon to find one's way through it;
/// lib/ribbon/shape.h has a drawing of it.
struct RibbonShape {
  static constexpr uint32_t kOctet = 8;   ///< Slots are given to chunks in multiples of this.
  static constexpr uint32_t kGroup = 32;  ///< Chunks per base; their slots stay below 2^12 octets.

  uint32_t columns = 0;          ///< Result bits of narrow segments (r); wide ones have one more.
  uint32_t seed = 0;             ///< Of the chunk if there is only one.
  uint64_t octets = 0;           ///< Slots / 8; >= 4.
  uint64_t chunks = 1;           ///< Each solved by itself, with a seed of its own; >= 1.
  uint64_t narrow_segments = 0;  ///< They come first; the others are wide. <= segments().
  bool has_always_true_chunks = false;  ///< Chunks of no slots match everything.

  /// @{
  /// What follows from the fields: counts, and bytes of the parts of the payload.
  uint64_t slots() const noexcept { return octets * kOctet; }
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
    return chunks <= kGroup ? 0 : (chunks + kGroup - 1) / kGroup * 4;
  }
  uint64_t PayloadBytes() const noexcept { return SegmentBytes() + DirectoryBytes() + BaseBytes(); }
  /// @}
};

/// What the footer of a block says.
struct FilterInfo {
  FilterKind kind = FilterKind::kBlockedBloom;  ///< Which of the fields below are used.

  /// Keys added, adjacent duplicates counted once; in classic and counting filters an estimate of
  /// the distinct keys. 0: the filter says "no" to all.
  uint64_t num_keys = 0;
  uint64_t payload_bytes = 0;  ///< Everything before the footer.
  uint64_t block_bytes = 0;    ///< Payload, footer and zero bytes.
  uint64_t hash_seed = 0;      ///< Of HashKey.
  /// What Filter::Verify compares; 0 in short blocks, whose one checksum is compared at once.
  uint32_t payload_checksum = 0;

  uint32_t padding_bytes = 0;  ///< Unused bytes before the first line or segment.

  // Bloom kinds.
  uint32_t num_probes = 0;  ///< Bits per key (k).

  // Classic and counting Bloom.
  uint64_t num_cells = 0;    ///< Bits or counters.
  uint64_t design_keys = 0;  ///< With more distinct keys it is over-full.
  uint32_t cell_bits = 0;    ///< Of a counter; 1 in classic filters.

  RibbonShape ribbon;  ///< Of a ribbon.

  /// Of the whole block; 0 without keys.
  double bits_per_key() const noexcept {
    return num_keys == 0 ? 0
                         : 8.0 * static_cast<double>(block_bytes) / static_cast<double>(num_keys);
  }
};

/// Reads and checks the footer in constant time, without looking at the payload. Thread-safe.
/// Errors: Corruption (too short, foreign, damaged), NotSupported (a newer version or kind).
Result<FilterInfo> DescribeFilterBlock(ByteView block);

/// The false-positive rate that the model predicts for a filter of this layout and number of keys.
double PredictedFpr(const FilterInfo& info) noexcept;

}  // namespace blocksieve
