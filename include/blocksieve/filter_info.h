#pragma once

#include <cstddef>
#include <cstdint>

#include "blocksieve/bytes.h"
#include "blocksieve/filter_kind.h"
#include "blocksieve/internal/ribbon_shape.h"

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

/// What the footer of a block says.
struct FilterInfo {
  FilterKind kind = FilterKind::kBlockedBloom;  ///< Which of the fields below are used.

  /// Keys added, adjacent duplicates counted once; in classic and counting filters an estimate of
  /// the distinct keys. 0: the filter says "no" to all.
  uint64_t num_keys = 0;
  uint64_t payload_bytes = 0;  ///< Everything before the footer.
  uint64_t block_bytes = 0;    ///< Payload, footer and zero bytes.
  uint64_t hash_seed = 0;      ///< Of HashKey.
  /// What VerifyFilterBlock compares; 0 in short blocks, whose one checksum is compared at once.
  uint32_t payload_checksum = 0;

  uint32_t lead_bytes = 0;  ///< Unused bytes before the first line or segment.

  // Bloom kinds.
  uint32_t num_probes = 0;  ///< Bits per key (k).

  // Classic and counting Bloom.
  uint64_t num_cells = 0;    ///< Bits or counters.
  uint64_t design_keys = 0;  ///< With more distinct keys it is over-full.
  uint32_t cell_bits = 0;    ///< Of a counter; 1 in classic filters.

  internal::RibbonShape ribbon;  ///< Of a ribbon; lib/RIBBON.md explains it.

  /// Of the whole block; 0 without keys.
  double bits_per_key() const noexcept {
    return num_keys == 0 ? 0
                         : 8.0 * static_cast<double>(block_bytes) / static_cast<double>(num_keys);
  }
};

}  // namespace blocksieve
