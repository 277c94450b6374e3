#pragma once

#include <cstdint>
#include <span>

#include "blocksieve/bytes.h"
#include "blocksieve/kernels.h"
#include "lib/base/coding.h"
#include "lib/bloom/classic_positions.h"

// Bloom filters of the same size, transposed: row p holds bit p of every filter. A probe ANDs k
// rows and has the answers of all filters; filter by filter, it would touch k cache lines for each.
// The rows of a value are the `Positions` of its hash.

namespace blocksieve::internal {

/// Bits that a value sets in a filter (num_probes; k in formulas), at most.
inline constexpr uint32_t kMaxIndexProbes = 32;

/// The 64 bits from bit number `bit` on; those beyond the end are zero.
inline uint64_t LoadBits64(ByteView bytes, uint64_t bit) noexcept {
  const uint64_t byte = bit / 8;
  const unsigned shift = bit % 8;
  if (byte < bytes.size() && bytes.size() - byte > sizeof(uint64_t)) {
    const uint8_t* from = bytes.data() + byte;
    const uint64_t low = LoadLittleEndian<uint64_t>(from) >> shift;
    return shift == 0 ? low : low | static_cast<uint64_t>(from[8]) << (64 - shift);
  }
  uint64_t word = 0;
  for (unsigned i = 0; i <= 8 && byte + i < bytes.size(); ++i) {
    const uint64_t next = bytes[static_cast<size_t>(byte + i)];
    const unsigned at = 8 * i;
    if (at >= shift) {
      if (at - shift < 64) word |= next << (at - shift);
    } else {
      word |= next >> shift;
    }
  }
  return word;
}

/// A view of transposed filters; the bytes belong to somebody else.
struct BitSlices {
  ByteView bytes;
  uint64_t num_rows = 0;     // bits of each filter (m); 0 for filters of no values
  uint64_t num_filters = 0;  // columns
  uint32_t num_probes = 0;   // bits that a value sets (k)

  /// Bits from one row to the next. Rows of few filters follow each other without a gap, because
  /// rounding to bytes could double them. From 512 filters on, rounding costs at most 1.4 % and
  /// allows reading rows in vectors.
  static constexpr uint64_t kPackedBelow = 512;
  static uint64_t StrideBits(uint64_t num_filters) noexcept {
    return num_filters < kPackedBelow ? num_filters : (num_filters + 7) / 8 * 8;
  }

  /// Bytes of all rows; the largest uint64_t if it would be more.
  static uint64_t NumBytes(uint64_t num_rows, uint64_t num_filters) noexcept;

  /// Removes from `candidates` the filters that contain none of the values with these hashes. Bit i
  /// stands for filter i; bits beyond the last filter are zero.
  /// REQUIRES: bytes.size() == NumBytes(num_rows, num_filters); `candidates` has a bit for each
  /// filter; IsAvailable(kernel)
  void KeepContainingAny(std::span<const uint64_t> hashes, std::span<uint64_t> candidates,
                         Kernel kernel) const noexcept;
};

/// The bits of `packed`, from the lowest on, moved to where `mask` has ones ("parallel deposit").
uint64_t DepositBits(uint64_t packed, uint64_t mask) noexcept;

}  // namespace blocksieve::internal
