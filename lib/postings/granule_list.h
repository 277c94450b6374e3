#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <array>
#include <bit>
#include <cstdint>
#include <span>

#include "lib/bits/bit_codes.h"

// The granules of one value: ascending numbers below num_granules. Their count is coded elsewhere.
// The first is in truncated binary, the gaps between the others in exponential-Golomb coding.
// Rejected: interpolative coding, 1 % smaller for texts, 1 % larger for random values, and three
// times slower to read.

namespace blocksieve::internal {

/// Maximum number of granules in a file with lists, whose numbers have 32 bits.
inline constexpr uint64_t kMaxListedGranules = uint64_t{1} << 31;

/// Writes and reads the lists of one column.
class GranuleLists {
 public:
  /// Lists with at least this many granules store their length in bits, so that they can be
  /// skipped, and the parameter of their gaps. In shorter lists it follows from the number of
  /// granules.
  static constexpr uint64_t kLongList = 16;

  /// `closeness`: bits that gaps of short lists have less than gaps of random granules. REQUIRES:
  /// num_granules <= kMaxListedGranules
  GranuleLists(uint64_t num_granules, uint32_t closeness) noexcept;

  /// REQUIRES: at least one granule; granules ascend and are below num_granules.
  void Append(std::span<const uint32_t> granules, BitWriter* out) const;

  /// Skips a list of `count` granules. False if it extends beyond the end of the bits. REQUIRES: 1
  /// <= count <= num_granules
  bool Skip(uint64_t count, BitReader* from) const noexcept;

  /// Sets the bits of a list's granules below `end` in `words`, and no others, even if the list is
  /// damaged. False if the part that was read is damaged. REQUIRES: 1 <= count <= num_granules, end
  /// <= num_granules
  bool Read(uint64_t count, BitReader from, uint64_t end, uint64_t* words) const noexcept;

  /// k of the gap code in a list of `count` granules. REQUIRES: count < kLongList
  unsigned gap_bits(uint64_t count) const noexcept { return gap_bits_[count]; }

 private:
  void AppendGaps(std::span<const uint32_t> granules, unsigned k, BitWriter* out) const;

  /// Stored instead of a long list's k, which is smaller: the list is a bitmap.
  unsigned bitmap() const noexcept { return static_cast<unsigned>(std::bit_width(num_granules_)); }

  uint64_t num_granules_;
  std::array<uint8_t, kLongList> gap_bits_{};  // k of short lists, by number of granules
};

/// Sets the bits first .. last. REQUIRES: first <= last
void SetBits(uint64_t first, uint64_t last, uint64_t* words) noexcept;

}  // namespace blocksieve::internal
