#pragma once

#include <cstdint>
#include <span>

#include "blocksieve/bytes.h"
#include "lib/base/kernels.h"
#include "lib/classic/positions.h"

// Bloom filters of the same size, transposed: row p holds bit p of every filter. A probe of all
// filters ANDs k rows; filter by filter, it would touch k cache lines for each. The rows of a value
// are the `Positions` of its hash.

namespace blocksieve::internal {

/// Maximum number of bits that a value sets in a filter (num_probes; k in formulas).
inline constexpr uint32_t kMaxIndexProbes = 32;

/// A view of transposed filters; does not own the bytes.
struct BitSlices {
  ByteView bytes;
  uint64_t num_rows = 0;     // bits of each filter (m); 0 for filters of no values
  uint64_t num_filters = 0;  // columns
  uint32_t num_probes = 0;   // bits that a value sets (k)

  /// Bits from one row to the next. Rows of fewer than 512 filters are not padded, because rounding
  /// to bytes could double them. From 512 on, it costs at most 1.4 % and permits vector loads.
  static constexpr uint64_t kPackedBelow = 512;
  static uint64_t StrideBits(uint64_t num_filters) noexcept {
    return num_filters < kPackedBelow ? num_filters : (num_filters + 7) / 8 * 8;
  }

  /// Size of all rows, in bytes. Saturates at the largest uint64_t.
  static uint64_t NumBytes(uint64_t num_rows, uint64_t num_filters) noexcept;

  /// Removes from `candidates` the filters that contain none of the hashes. Bit i is filter i; bits
  /// beyond the last filter are zero. REQUIRES: bytes.size() == NumBytes(num_rows, num_filters);
  /// `candidates` has a bit for each filter; IsAvailable(kernel)
  void PruneByAny(std::span<const uint64_t> hashes, std::span<uint64_t> candidates,
                  Kernel kernel) const noexcept;
};

/// Moves the low bits of `packed` to the ones of `mask`, in order ("parallel deposit").
uint64_t DepositBits(uint64_t packed, uint64_t mask) noexcept;

}  // namespace blocksieve::internal
