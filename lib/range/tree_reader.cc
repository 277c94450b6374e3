// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "lib/range/cells.h"
#include "lib/range/tree.h"

namespace blocksieve::internal {
namespace {

// Limit for damaged leaves; no writer exceeds it.
constexpr uint64_t kMaxLeafCells = 8 * kLeafCells;

/// Decodes the node at `offset` with codes from `low` to `high`. False if it is damaged.
bool ReadNode(ByteView tree, uint64_t offset, uint64_t low, uint64_t high,
              TreeNode* node) noexcept {
  if (offset > tree.size()) return false;
  Decoder from(tree.subspan(static_cast<size_t>(offset)));
  const uint64_t num_leaves = from.Varint();
  if (num_leaves == 0 || num_leaves > tree.size()) return false;
  const ByteView lows = from.Bytes(8 * (num_leaves - 1));
  const ByteView offsets = from.Bytes(4 * (num_leaves - 1));
  *node = {low,
           high,
           num_leaves,
           lows.data(),
           offsets.data(),
           static_cast<uint64_t>(from.rest().data() - tree.data()),
           CodeCells(low, high, num_leaves)};
  return from.ok();
}

/// The leaf of a code: the number of leaves after the first whose low is at most `code`. Lows lie
/// about evenly, so a guess and its neighbours, which share one or two cache lines, mostly hold the
/// answer; they are counted without a branch on what they hold.
uint64_t LeafOf(const TreeNode& node, uint64_t code) noexcept {
  constexpr uint64_t kNear = 8;
  const auto is_up_to = [&](uint64_t i) {
    return LoadLittleEndian<uint64_t>(node.lows + sizeof(uint64_t) * i) <= code;
  };
  uint64_t lower = 0;
  uint64_t upper = node.num_leaves - 1;
  if (upper > kNear) {
    const uint64_t guess = node.even.Of(code);
    const uint64_t first = std::min(guess - std::min(guess, kNear / 2), upper - kNear);
    uint64_t count = 0;
    for (uint64_t i = 0; i < kNear; ++i) count += is_up_to(first + i) ? 1 : 0;
    if (count == 0) {
      upper = first;
    } else if (count == kNear) {
      lower = first + kNear;
    } else {
      return first + count;
    }
  }
  while (lower < upper) {
    const uint64_t middle = lower + (upper - lower) / 2;
    if (is_up_to(middle)) {
      lower = middle + 1;
    } else {
      upper = middle;
    }
  }
  return lower;
}

/// One query of a tree. Damaged bytes lead to "may match" or a wrong answer, nothing else.
template <unsigned (*kSelect)(uint64_t, uint64_t)>
class TreeProbe {
 public:
  TreeProbe(const CellTree& tree, std::string_view begin, std::string_view end) noexcept
      : tree_(tree), begin_(begin), end_(end) {}

  /// The codes of the query's ends that lie in the current part of the tree.
  struct Ends {
    bool has_begin;
    bool has_end;
    uint64_t begin;
    uint64_t end;
  };

  /// Probes a node of keys that share `depth` bytes. Inlined, together with ProbeLeaf, into the
  /// function of each kernel.
  [[gnu::always_inline]] bool ProbeNode(const TreeNode& node, size_t depth,
                                        const Ends& ends) noexcept {
    if (ends.has_end && ends.end < node.low) return false;
    if (ends.has_begin && ends.begin > node.high) return false;
    const uint64_t num_leaves = node.num_leaves;
    const auto low_of = [&](uint64_t leaf) {
      return leaf == 0            ? node.low
             : leaf == num_leaves ? node.high
                                  : LoadLittleEndian<uint64_t>(node.lows + 8 * (leaf - 1));
    };
    const auto probe = [&](uint64_t leaf, const Ends& in_leaf) {
      const uint64_t at = leaf == 0 ? 0 : LoadLittleEndian<uint32_t>(node.offsets + 4 * (leaf - 1));
      const uint64_t leaf_low = low_of(leaf);
      const uint64_t leaf_high = low_of(leaf + 1);
      if (leaf_low > leaf_high) return true;
      BitReader bits(tree_.bytes, 8 * (node.first_leaf + at));
      return ProbeLeaf(&bits, leaf_low, leaf_high, depth, in_leaf);
    };
    uint64_t leaf = ends.has_begin ? LeafOf(node, ends.begin) : 0;
    Ends in_leaf = ends;
    bool is_last = leaf + 1 == num_leaves || (ends.has_end && ends.end < low_of(leaf + 1));
    if (!is_last) {
      // Leaves are not empty: one that lies entirely in the range has a key of the range.
      if (leaf + 2 < num_leaves && (!ends.has_end || ends.end >= low_of(leaf + 2))) return true;
      in_leaf.has_end = false;
    }
    for (;; ++leaf, in_leaf = {false, ends.has_end, 0, ends.end}, is_last = true) {
      if (probe(leaf, in_leaf)) return true;
      if (is_last) return false;
    }
  }

 private:
  struct LeafHead {
    uint64_t num_cells;
    CellsShape shape;
    bool has_clusters;
    bool ok;
  };

  LeafHead ReadLeafHead(BitReader* bits) const noexcept {
    const uint64_t room = bits->ExpGolomb(kCountK) + 1;
    const uint64_t missing = bits->ExpGolomb(kMissingK);
    const bool has_clusters = bits->Bits(1) != 0;
    if (room > kMaxLeafCells || missing >= room) return {1, {1, 1, 1}, false, false};
    const uint64_t num_cells = room * tree_.cells_per_key;
    const CellsShape shape(room - missing, num_cells, tree_.cells_per_key);
    const bool ok = bits->ok() && bits->position() + shape.num_bits() <= 8 * tree_.bytes.size();
    return {num_cells, shape, has_clusters, ok};
  }

  [[gnu::always_inline]] bool ProbeLeaf(BitReader* bits, uint64_t low, uint64_t high, size_t depth,
                                        const Ends& ends) noexcept {
    if (!ends.has_begin && !ends.has_end) return true;
    const LeafHead head = ReadLeafHead(bits);
    if (!head.ok) return true;
    const CodeCells all(low, high, head.num_cells);
    const uint64_t first = ends.has_begin ? all.Of(ends.begin) : 0;
    const uint64_t last = ends.has_end ? all.Of(ends.end) : head.num_cells - 1;
    CellsReader<kSelect> cells(tree_.bytes.data(), bits->position(), head.shape);
    for (bool found = cells.Seek(first); found && cells.cell() <= last; found = cells.Next()) {
      const bool is_first = ends.has_begin && cells.cell() == first;
      const bool is_last = ends.has_end && cells.cell() == last;
      if (!is_first && !is_last) return true;
      if (!head.has_clusters) return true;
      if (ProbeCell(*bits, head.shape, cells.index(), depth, is_first, is_last)) return true;
    }
    return false;
  }

  /// Probes a cell in which the query begins or ends. `bits` is at the cells of its leaf.
  [[gnu::noinline]] bool ProbeCell(BitReader bits, const CellsShape& shape, uint64_t index,
                                   size_t depth, bool has_begin, bool has_end) noexcept {
    bits.Skip(shape.num_bits());
    const Flags flags = ReadFlags(&bits, shape.count, index);
    if (!flags.is_cluster) return true;
    const uint64_t sizes = flags.clusters == 0 ? 0 : (flags.clusters - 1) / kSizedClusters;
    const uint64_t sized = flags.before / kSizedClusters;
    BitReader size(tree_.bytes, bits.position() + (sized == 0 ? 0 : sized - 1) * kOffsetBits);
    bits.Skip(sizes * kOffsetBits + (sized == 0 ? 0 : size.Bits(kOffsetBits)));
    for (uint64_t i = 0; i < flags.before % kSizedClusters; ++i) SkipCluster(&bits, 0);
    return !bits.ok() || ProbeCluster(&bits, depth, has_begin, has_end);
  }

  struct Flags {
    bool is_cluster;
    uint64_t before;
    uint64_t clusters;
  };

  static Flags ReadFlags(BitReader* bits, uint64_t count, uint64_t index) noexcept {
    Flags flags{false, 0, 0};
    for (uint64_t i = 0; i < count; i += kMaxCodeBits) {
      const auto piece = static_cast<unsigned>(count - i < kMaxCodeBits ? count - i : kMaxCodeBits);
      const uint64_t word = bits->Bits(piece);
      flags.clusters += static_cast<uint64_t>(std::popcount(word));
      if (index >= i + piece) {
        flags.before += static_cast<uint64_t>(std::popcount(word));
      } else if (index >= i) {
        const auto at = static_cast<unsigned>(index - i);
        flags.before += static_cast<uint64_t>(std::popcount(word & LowBits(at)));
        flags.is_cluster = (word >> at & 1) != 0;
      }
    }
    return flags;
  }

  struct ClusterHead {
    uint64_t shared;  // bytes that keys share after those of the enclosing leaf
    uint64_t fingerprint;
    uint64_t low;
    uint64_t high;
    bool is_node;
  };

  static ClusterHead ReadClusterHead(BitReader* bits) noexcept {
    ClusterHead head{bits->ExpGolomb(kSharedK) + 1, bits->Bits(kFingerprintBits), 0,
                     OrderPreservingCode::kEnd - 1, false};
    if (bits->Bits(1) != 0) {
      const uint64_t slices = bits->Bits(2 * kSliceBits);
      head.low = (slices & (kSlices - 1)) << kSliceShift;
      head.high = (((slices >> kSliceBits) + 1) << kSliceShift) - 1;
    }
    head.is_node = bits->Bits(1) != 0;
    return head;
  }

  void SkipCluster(BitReader* bits, unsigned nested) const noexcept {
    if (ReadClusterHead(bits).is_node) return bits->Skip(kOffsetBits);
    const LeafHead head = ReadLeafHead(bits);
    if (!head.ok || nested == kMaxNesting) return bits->Skip(UINT64_MAX);
    bits->Skip(head.shape.num_bits());
    if (!head.has_clusters) return;
    const Flags flags = ReadFlags(bits, head.shape.count, 0);
    if (flags.clusters == 0) return;
    bits->Skip((flags.clusters - 1) / kSizedClusters * kOffsetBits);
    for (uint64_t i = 0; i < flags.clusters && bits->ok(); ++i) SkipCluster(bits, nested + 1);
  }

  bool ProbeCluster(BitReader* bits, size_t depth, bool has_begin, bool has_end) noexcept {
    const ClusterHead head = ReadClusterHead(bits);
    if (!bits->ok() || head.low > head.high) return true;
    // Only a fingerprint of the keys' shared bytes is stored. If begin and end differ in these
    // bytes, the fingerprint cannot rule anything out. If they agree, only keys with the same bytes
    // lie in between, and a different fingerprint proves that there are none.
    if (++num_clusters_ > kMaxNesting) return true;
    const uint64_t deeper = depth + head.shared;
    if (!has_begin || !has_end || begin_.size() < deeper || end_.size() < deeper) return true;
    const auto shared = static_cast<size_t>(head.shared);
    const std::string_view bytes = begin_.substr(depth, shared);
    if (bytes != end_.substr(depth, shared)) return true;
    if (FingerprintOf(bytes) != head.fingerprint) return false;
    const auto below = static_cast<size_t>(deeper);
    const auto codes = tree_.code.Codes(begin_, end_, below);
    const Ends ends{true, true, codes.first, codes.second};
    if (head.is_node) {
      TreeNode node;
      return !ReadNode(tree_.bytes, tree_.nodes + bits->Bits(kOffsetBits), head.low, head.high,
                       &node) ||
             ProbeNode(node, below, ends);
    }
    return ProbeLeaf(bits, head.low, head.high, below, ends);
  }

  const CellTree& tree_;
  const std::string_view begin_;
  const std::string_view end_;
  unsigned num_clusters_ = 0;
};

/// Inlined completely into the function of each kernel.
template <unsigned (*kSelect)(uint64_t, uint64_t)>
[[gnu::always_inline]] inline bool Probe(const CellTree& tree, std::string_view begin,
                                         std::string_view end,
                                         std::pair<uint64_t, uint64_t> codes) noexcept {
  TreeProbe<kSelect> probe(tree, begin, end);
  return probe.ProbeNode(tree.root, 0, {true, true, codes.first, codes.second});
}

#if defined(__x86_64__)
[[gnu::target("popcnt,bmi,bmi2"), gnu::flatten]] bool ProbeWithBmi(
    const CellTree& tree, std::string_view begin, std::string_view end,
    std::pair<uint64_t, uint64_t> codes) noexcept {
  return Probe<SelectByBmi2>(tree, begin, end, codes);
}
#endif

}  // namespace

bool CellTree::Open(uint64_t first_code, uint64_t last_code) noexcept {
  return ReadNode(bytes, 0, first_code, last_code, &root);
}

bool CellTree::MayContain(std::string_view begin, std::string_view end,
                          std::pair<uint64_t, uint64_t> codes, Kernel kernel) const noexcept {
#if defined(__x86_64__)
  if (kernel != Kernel::kScalar) return ProbeWithBmi(*this, begin, end, codes);
#endif
  return Probe<SelectByLoop>(*this, begin, end, codes);
}

}  // namespace blocksieve::internal
