#pragma once

#include <cstdint>

#include "blocksieve/bytes.h"
#include "blocksieve/filter_kind.h"
#include "blocksieve/status.h"

/// \file
/// The byte format of a finished filter: payload, footer, five zero bytes. lib/FORMAT.md is the
/// normative description.

namespace blocksieve {

/// Written into every footer. Readers take a higher one for "may match".
inline constexpr uint8_t kFilterFormatVersion = 1;

/// Every block ends so. Stock RocksDB reads it as "no probes: always may match".
inline constexpr size_t kZeroTailBytes = 5;

/// Block lengths are below this: readers of RocksDB cast them to 32 bits.
inline constexpr uint64_t kMaxFilterBlockBytes = UINT64_C(0xffffffff);

/// What the footer of a block says.
struct FilterInfo {
  FilterKind kind = FilterKind::kBlockedBloom;  ///< Which of the fields below are used.

  /// Keys added, adjacent duplicates counted once; of classic and counting filters an estimate of
  /// the distinct ones. 0: "no" to all.
  uint64_t num_keys = 0;
  uint64_t payload_bytes = 0;     ///< Everything before the footer.
  uint64_t block_bytes = 0;       ///< Payload, footer and zero bytes.
  uint64_t hash_seed = 0;         ///< Of HashKey.
  uint32_t payload_checksum = 0;  ///< What VerifyFilterBlock compares.

  uint32_t lead_bytes = 0;  ///< Unused bytes before the first line or segment.

  // Bloom kinds.
  uint32_t num_probes = 0;  ///< Bits per key (k).

  // Classic and counting Bloom.
  uint64_t num_cells = 0;    ///< Bits or counters.
  uint64_t design_keys = 0;  ///< With more distinct keys it is over-full.
  uint32_t cell_bits = 0;    ///< Of a counter; 1 in classic filters.

  // Ribbon; lib/RIBBON.md tells what these are.
  uint32_t num_columns = 0;          ///< Result bits (r); wide segments have one more.
  uint64_t num_slots = 0;            ///< Rows of the solution, of all chunks.
  uint64_t num_chunks = 0;           ///< Each solved by itself, with a seed of its own.
  uint64_t num_narrow_segments = 0;  ///< The others, behind them, are wide.
  uint32_t chunk_seed = 0;           ///< If there is but one chunk.
  bool has_open_chunks = false;      ///< Some hashes match whatever the filter says.

  /// Of the whole block; 0 without keys.
  double bits_per_key() const noexcept {
    return num_keys == 0 ? 0
                         : 8.0 * static_cast<double>(block_bytes) / static_cast<double>(num_keys);
  }
};

/// Whether the last five bytes are zero, as in every blocksieve filter and in RocksDB's "always may
/// match". What ends otherwise is another program's filter.
bool HasFilterBlockTail(ByteView block) noexcept;

/// Reads and checks the footer, in constant time; the payload is not looked at.
/// Errors: Corruption (too short, foreign, damaged), NotSupported (a newer version or kind).
Result<FilterInfo> DescribeFilterBlock(ByteView block);

/// Checks the payload against its checksum, in time linear in its size. Errors as above.
Status VerifyFilterBlock(ByteView block);

/// The false-positive rate that the model predicts for a filter of this layout and number of keys.
double PredictedFpr(const FilterInfo& info) noexcept;

}  // namespace blocksieve
