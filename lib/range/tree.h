#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "blocksieve/bytes.h"
#include "blocksieve/hash.h"
#include "lib/base/kernels.h"
#include "lib/range/order_preserving_code.h"
#include "lib/range/sorted_keys.h"

// A range filter stores its keys as a tree. A node divides an interval of codes among leaves. A
// leaf divides its interval into cells of equal width and marks the occupied ones. Several keys in
// one cell, a cluster, may have a node or leaf of their own, whose codes start after the keys'
// shared bytes. lib/FORMAT.md specifies the bytes.

namespace blocksieve::internal {

/// An interval of codes divided into cells of equal width.
class CodeCells {
 public:
  CodeCells() = default;

  /// The codes from `low` to `high`. REQUIRES: low <= high, 1 <= num_cells < 2^32
  CodeCells(uint64_t low, uint64_t high, uint64_t num_cells) noexcept
      : low_(low), num_cells_(num_cells) {
    const auto bits = static_cast<unsigned>(std::bit_width(high - low));
    shift_ = bits > kWidthBits ? bits - kWidthBits : 0;
    width_ = ((high - low) >> shift_) + 1;
    scale_ = (num_cells << 32) / width_;
  }

  uint64_t num_cells() const noexcept { return num_cells_; }

  /// The cell of a code, monotone in the code; the first or last cell if the code is outside.
  uint64_t Of(uint64_t code) const noexcept {
    if (code <= low_) return 0;
    return (code - low_) >> shift_ >= width_ ? num_cells_ - 1 : OfInside(code);
  }
  uint64_t OfInside(uint64_t code) const noexcept {
    return ((code - low_) >> shift_) * scale_ >> 32;
  }

 private:
  static constexpr unsigned kWidthBits = 31;

  uint64_t low_ = 0;
  uint64_t num_cells_ = 0;
  unsigned shift_ = 0;
  uint64_t width_ = 0;  // in units of 2^shift_
  uint64_t scale_ = 0;  // cells per unit, times 2^32
};

/// Maximum number of occupied cells of a leaf; writers aim at this many.
inline constexpr uint64_t kLeafCells = 512;

/// A leaf stores the offset of every kSizedClusters-th cluster.
inline constexpr uint64_t kSizedClusters = 16;

/// Maximum nesting of clusters, for writers and readers. Deeper ones would gain little, and take a
/// stack as deep as keys are long.
inline constexpr unsigned kMaxNesting = 64;

/// A cluster may store the first and the last occupied sixteenth (slice) of its codes.
inline constexpr unsigned kSliceBits = 4;
inline constexpr uint64_t kSlices = 1 << kSliceBits;
inline constexpr unsigned kSliceShift = 63 - kSliceBits;

/// A fingerprint of the bytes that the keys of a cluster share.
inline constexpr unsigned kFingerprintBits = 6;
inline uint64_t FingerprintOf(std::string_view bytes) noexcept {
  return HashKey(bytes) & ((1u << kFingerprintBits) - 1);
}

// Widths and Exp-Golomb parameters of numbers.
inline constexpr unsigned kOffsetBits = 32;
inline constexpr unsigned kCountK = 3;
inline constexpr unsigned kMissingK = 0;
inline constexpr unsigned kSharedK = 1;

/// Statistics of a written tree.
struct TreeShape {
  uint64_t keys = 0;
  uint64_t keys_alone = 0;  // keys that share their cell with no other
  uint64_t clusters = 0;
  uint32_t root_bytes = 0;
};

/// Appends the tree of `keys`. REQUIRES: !keys.empty(), 2 <= cells_per_key <= kMaxCellsPerKey
inline constexpr uint64_t kMaxCellsPerKey = uint64_t{1} << 20;
TreeShape AppendTree(const SortedKeys& keys, const OrderPreservingCode& code,
                     uint64_t cells_per_key, std::string* out);

/// Statistics of trees of a few stretches of the keys, in a fraction of the time; 0 keys if there
/// are too few for that to be faster. REQUIRES: as AppendTree
TreeShape TryTree(const SortedKeys& keys, const OrderPreservingCode& code, uint64_t cells_per_key);

/// A node, decoded.
struct TreeNode {
  uint64_t low = 0;  // lowest and highest code
  uint64_t high = 0;
  uint64_t num_leaves = 0;
  const uint8_t* lows = nullptr;     // of the leaves but the first
  const uint8_t* offsets = nullptr;  // of the same, after the first leaf
  uint64_t first_leaf = 0;           // offset of the first leaf in the tree
  CodeCells even;                    // the leaf of a code, if all leaves were of one width
};

/// The tree of a filter. If its bytes are damaged, answers are meaningless, but no byte outside is
/// read.
struct CellTree {
  /// Decodes the root. False if it is damaged. REQUIRES: first_code <= last_code
  bool Open(uint64_t first_code, uint64_t last_code) noexcept;

  /// Whether some key may be in [begin, end), whose ends have these codes. REQUIRES: begin < end
  bool MayContain(std::string_view begin, std::string_view end, std::pair<uint64_t, uint64_t> codes,
                  Kernel kernel) const noexcept;

  ByteView bytes;  // root and other nodes; at least kCellSlackBytes of footer follow
  uint64_t nodes;  // offset of the nodes of clusters
  OrderPreservingCode code;
  uint64_t cells_per_key;
  TreeNode root;
};

}  // namespace blocksieve::internal
