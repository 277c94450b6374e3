#pragma once

#include <cstddef>
#include <cstdint>

#include "blocksieve/bytes.h"
#include "blocksieve/sizing.h"
#include "blocksieve/status.h"

namespace blocksieve {

/// Version of a block with a point filter only. Readers answer "may match" for unknown versions.
inline constexpr uint8_t kFilterFormatVersion = 1;

/// Version of a block with a range filter (range_filter.h).
inline constexpr uint8_t kRangeFormatVersion = 2;
/// Version of a small ribbon with a short footer.
inline constexpr uint8_t kShortFormatVersion = 3;
/// Version of a block with a prefix part (lib/prefix), with or without a range filter.
inline constexpr uint8_t kPrefixFormatVersion = 4;
/// The newest version that readers support.
inline constexpr uint8_t kNewestBlockVersion = kPrefixFormatVersion;

/// Zero bytes at the end of every block. Stock RocksDB reads them as "no probes: always may match".
inline constexpr size_t kZeroTailBytes = 5;

/// Whether the last five bytes are zero, as in every blocksieve filter and in RocksDB's "always may
/// match". Other blocks are other programs' filters.
bool HasFilterBlockTail(ByteView block) noexcept;

/// Blocks are shorter than this: RocksDB's readers cast their sizes to 32 bits.
inline constexpr uint64_t kMaxFilterBlockBytes = UINT64_C(0xffffffff);

/// The layout of a ribbon's payload, as in lib/FORMAT.md.
struct RibbonShape {
  static constexpr uint32_t kOctet = 8;   ///< Chunks have a multiple of this many slots.
  static constexpr uint32_t kGroup = 32;  ///< Chunks per base; their slots stay below 2^12 octets.

  uint32_t columns = 0;          ///< Result bits of narrow segments (r); wide ones have one more.
  uint32_t seed = 0;             ///< Seed of the chunk if there is only one.
  uint64_t octets = 0;           ///< Slots / 8; >= 4.
  uint64_t chunks = 1;           ///< Number of chunks, each solved with its own seed; >= 1.
  uint64_t narrow_segments = 0;  ///< They precede the wide segments. <= segments().
  bool has_always_true_chunks = false;  ///< Chunks without slots match everything.

  /// @{
  /// Counts, and sizes in bytes of the parts of the payload, computed from the fields.
  uint64_t slots() const noexcept { return octets * kOctet; }
  uint64_t segments() const noexcept { return (octets + 7) / 8; }
  bool has_wide_segments() const noexcept { return narrow_segments < segments(); }
  uint32_t max_columns() const noexcept { return columns + (has_wide_segments() ? 1 : 0); }

  uint64_t SegmentBytes() const noexcept {
    const uint64_t wide = segments() - narrow_segments;
    const uint64_t missing = segments() * 8 - octets;  // bytes of a column that the last lacks
    return (segments() * columns + wide) * 8 - missing * max_columns();
  }
  uint64_t DirectoryBytes() const noexcept { return chunks == 1 ? 0 : (chunks + 1) * 2; }
  uint64_t BaseBytes() const noexcept {
    return chunks <= kGroup ? 0 : (chunks + kGroup - 1) / kGroup * 4;
  }
  uint64_t PayloadBytes() const noexcept { return SegmentBytes() + DirectoryBytes() + BaseBytes(); }
  /// @}
};

/// Contents of a block's footer.
struct FilterInfo {
  FilterKind kind = FilterKind::kBlockedBloom;  ///< Determines which fields below are used.

  /// Keys added, adjacent duplicates counted once. 0: the filter answers "no" to everything.
  uint64_t num_keys = 0;
  uint64_t payload_bytes = 0;  ///< Bytes before the footer.
  uint64_t block_bytes = 0;    ///< Bytes of payload, footer and zeros.
  uint64_t hash_seed = 0;      ///< Seed of HashKey.
  /// For Filter::Verify; 0 in short blocks, whose one checksum is compared when they are opened.
  uint32_t payload_checksum = 0;

  uint32_t padding_bytes = 0;  ///< Unused bytes before the first line or segment.

  uint32_t num_probes = 0;  ///< Bits per key (k). Blocked Bloom only.
  RibbonShape ribbon;       ///< Ribbons only.

  /// Bits of the whole block per key; 0 without keys.
  double bits_per_key() const noexcept {
    return num_keys == 0 ? 0
                         : 8.0 * static_cast<double>(block_bytes) / static_cast<double>(num_keys);
  }
};

/// Reads and checks the footer in constant time, without reading the payload. Thread-safe.
/// Errors: Corruption (too short, foreign, damaged), NotSupported (a newer version or kind).
Result<FilterInfo> DescribeFilterBlock(ByteView block);

/// The FPR that the model predicts for a filter of this layout and number of keys.
double PredictedFpr(const FilterInfo& info) noexcept;

}  // namespace blocksieve
