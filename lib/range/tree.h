#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

#include "blocksieve/bytes.h"
#include "blocksieve/hash.h"
#include "lib/base/kernels.h"
#include "lib/range/order_preserving_code.h"
#include "lib/range/sorted_keys.h"

// The keys of a range filter as a tree. A node divides an interval of codes among leaves, a leaf
// divides its part into cells of equal width and says which of them hold keys. Several keys in one
// cell, a cluster, may have a node or a leaf of their own, whose codes start behind the bytes that
// they share. lib/FORMAT.md specifies the bytes.

namespace blocksieve::internal {

/// An interval of codes that is cut into cells of equal width.
class CodeCells {
 public:
  /// Codes from `low` to `high`. REQUIRES: low <= high, 1 <= num_cells < 2^32
  CodeCells(uint64_t low, uint64_t high, uint64_t num_cells) noexcept
      : low_(low), num_cells_(num_cells) {
    const auto bits = static_cast<unsigned>(std::bit_width(high - low));
    shift_ = bits > kWidthBits ? bits - kWidthBits : 0;
    width_ = ((high - low) >> shift_) + 1;
    scale_ = (num_cells << 32) / width_;
  }

  uint64_t num_cells() const noexcept { return num_cells_; }

  /// The cell of a code; the first or the last one if the code lies outside. Ascends with the code.
  uint64_t Of(uint64_t code) const noexcept {
    if (code <= low_) return 0;
    const uint64_t distance = (code - low_) >> shift_;
    return distance >= width_ ? num_cells_ - 1 : distance * scale_ >> 32;
  }

 private:
  static constexpr unsigned kWidthBits = 31;

  uint64_t low_;
  uint64_t num_cells_;
  unsigned shift_;
  uint64_t width_;  // in units of 2^shift_
  uint64_t scale_;  // cells of a unit, times 2^32
};

/// Cells of a leaf, at most; most are cut to have so many.
inline constexpr uint64_t kLeafCells = 512;

/// Clusters have sizes written down every so many.
inline constexpr uint64_t kSizedClusters = 16;

/// Clusters that lie in each other, at most; the same for writers and readers. More would be of
/// keys for which one more answer does not matter, and need a stack as deep as keys are long.
inline constexpr unsigned kMaxNesting = 64;

/// Of the codes of a cluster, the first and the last sixteenth that hold any are known.
inline constexpr unsigned kSliceBits = 4;
inline constexpr uint64_t kSlices = 1 << kSliceBits;
inline constexpr unsigned kSliceShift = 63 - kSliceBits;

/// A few bits of a hash of the bytes that a cluster shares.
inline constexpr unsigned kFingerprintBits = 6;
inline uint64_t FingerprintOf(std::string_view bytes) noexcept {
  return HashKey(bytes) & ((1u << kFingerprintBits) - 1);
}

// Codes of numbers.
inline constexpr unsigned kOffsetBits = 32;
inline constexpr unsigned kCountK = 3;
inline constexpr unsigned kMissingK = 0;
inline constexpr unsigned kSharedK = 1;

/// What became of the keys.
struct TreeShape {
  uint64_t keys = 0;
  uint64_t keys_alone = 0;  // in their cell
  uint64_t clusters = 0;
  uint32_t root_bytes = 0;
};

/// Appends the root's node. REQUIRES: there are keys; 2 <= cells_per_key <= kMaxCellsPerKey
inline constexpr uint64_t kMaxCellsPerKey = uint64_t{1} << 20;
TreeShape AppendTree(const SortedKeys& keys, const OrderPreservingCode& code,
                     uint64_t cells_per_key, std::string* out);

/// What would become of some stretches of the keys, for a fraction of the time. Without keys if
/// there are too few to save any. REQUIRES: as AppendTree
TreeShape TryTree(const SortedKeys& keys, const OrderPreservingCode& code, uint64_t cells_per_key);

/// The tree of a filter whose bytes may be damaged: what it answers is then of no use, but nothing
/// beyond the bytes is read.
struct Tree {
  /// Whether some key may be in [begin, end). REQUIRES: begin < end
  bool MayContain(std::string_view begin, std::string_view end, Kernel kernel) const noexcept;

  ByteView bytes;  // of the root and other nodes; kCellSlackBytes follow, which are of the block's
                   // footer
  uint64_t nodes;  // where those of clusters begin
  OrderPreservingCode code;
  uint64_t cells_per_key;
  uint64_t first_code;
  uint64_t last_code;
};

}  // namespace blocksieve::internal
