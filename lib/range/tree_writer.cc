// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cassert>
#include <memory>
#include <span>

#include "lib/range/cells.h"
#include "lib/range/sorted_codes.h"
#include "lib/range/tree.h"

namespace blocksieve::internal {
namespace {

/// Appends `cells`, ascending and distinct, all below `num_cells`. REQUIRES: !cells.empty()
void AppendCells(std::span<const uint32_t> cells, uint64_t num_cells, uint64_t cells_per_key,
                 BitWriter* out) {
  const CellsShape shape(cells.size(), num_cells, cells_per_key);
  std::vector<uint64_t> unary(shape.unary_bits / 64 + 1);
  uint64_t index = 0;
  uint64_t word = 0;  // in a register: in memory, each bit would wait for the one before
  size_t last = 0;    // its number
  for (const uint32_t cell : cells) {
    const uint64_t position = (cell >> shape.low_bits) + index++;
    if (position / 64 != last) {
      unary[last] = word;
      word = 0;
      last = position / 64;
    }
    word |= uint64_t{1} << (position % 64);
  }
  unary[last] = word;
  for (uint64_t i = 0; i < shape.unary_bits; i += 32) {
    const auto bits = static_cast<unsigned>(std::min<uint64_t>(32, shape.unary_bits - i));
    out->Bits(unary[i / 64] >> (i % 64) & LowBits(bits), bits);
  }
  const size_t group = kMaxCodeBits / shape.low_bits;  // as many as fit into one call
  for (size_t i = 0; i < cells.size(); i += group) {
    uint64_t low = 0;
    unsigned bits = 0;
    for (const uint32_t cell : cells.subspan(i, std::min(group, cells.size() - i))) {
      low |= (cell & LowBits(shape.low_bits)) << bits;
      bits += shape.low_bits;
    }
    out->Bits(low, bits);
  }
}

// Fewer keys in one cell are not worth the bits of a leaf of their own.
constexpr size_t kMinClusterKeys = 4;

// Maximum attempts to fill a leaf.
constexpr int kMaxCuts = 6;

// Keys are unevenly distributed if one half of a leaf's interval has this many times the keys of
// the other. Leaves of fewer than kMinKeys keys are not split off.
constexpr size_t kUneven = 3;
constexpr size_t kMinKeys = 32;

// TryTree builds kStretches stretches of one kTriedPart-th of the keys in total, each with a number
// of keys within these limits.
constexpr size_t kStretches = 8;
constexpr size_t kTriedPart = 16;
constexpr size_t kMinStretch = 64;
constexpr size_t kMaxStretch = kLeafCells;

class TreeWriter {
 public:
  TreeWriter(const SortedKeys& keys, const OrderPreservingCode& code, uint64_t cells_per_key)
      : keys_(keys), code_(code), cells_per_key_(cells_per_key) {}

  const TreeShape& shape() const noexcept { return shape_; }
  const std::string& nodes() const noexcept { return nodes_; }

  /// Keys from number `first` on that share `depth` bytes, in `nested` clusters, with their codes,
  /// which are from `low` to `high`.
  struct Keys {
    size_t first;
    size_t depth;
    unsigned nested;
    std::span<const uint64_t> codes;
    uint64_t low;
    uint64_t high;
  };

  /// Appends the node of keys.
  void AppendNode(const Keys& keys, std::string* out) {
    std::vector<Keys> leaves;
    for (size_t i = 0; i < keys.codes.size(); i += leaves.back().codes.size()) {
      Keys leaf = keys;
      leaf.first += i;
      leaf.codes = keys.codes.subspan(i);
      if (i != 0) leaf.low = leaves.back().high = leaf.codes[0];
      leaf.codes = leaf.codes.first(Cut(leaf.codes, leaf.low, leaf.high));
      leaves.push_back(leaf);
    }
    AppendVarint(out, leaves.size());
    for (size_t i = 1; i < leaves.size(); ++i) AppendLittleEndian(out, leaves[i].low);
    out->append(sizeof(uint32_t) * (leaves.size() - 1), '\0');
    const size_t begin = out->size();
    for (size_t i = 0; i < leaves.size(); ++i) {
      const auto offset = static_cast<uint32_t>(out->size() - begin);
      uint8_t* const offsets_end = reinterpret_cast<uint8_t*>(out->data()) + begin;
      if (i != 0) StoreLittleEndian(offsets_end - sizeof(offset) * (leaves.size() - i), offset);
      BitWriter bits;
      AppendLeaf(leaves[i], &bits);
      *out += std::move(bits).Finish();
    }
  }

 private:
  static uint64_t CountCells(std::span<const uint64_t> codes, const CodeCells& cells) noexcept {
    uint64_t count = 0;
    uint64_t last = UINT64_MAX;
    for (const uint64_t code : codes) {
      const uint64_t cell = cells.OfInside(code);
      count += cell != last ? 1 : 0;
      last = cell;
    }
    return count;
  }

  /// The number of keys of the first leaf, so that it has about kLeafCells occupied cells. That
  /// depends on the width of the cells, which depends on the number of keys: found by iteration.
  size_t Cut(std::span<const uint64_t> codes, uint64_t low, uint64_t high) const noexcept {
    const auto with_equals = [&](size_t count) {
      while (count < codes.size() && codes[count] == codes[count - 1]) ++count;
      return count;
    };
    size_t best = 0;
    size_t count = std::min<size_t>(codes.size(), kLeafCells);
    for (int cut = 0; cut < kMaxCuts && count > best; ++cut) {
      count = with_equals(count);
      const CodeCells all(low, count < codes.size() ? codes[count] : high,
                          kLeafCells * cells_per_key_);
      const uint64_t cells = CountCells(codes.first(count), all);
      if (cells > kLeafCells) {
        count -= count * (cells - kLeafCells) / cells + 1;
        continue;
      }
      best = count;
      if (cells >= kLeafCells - kLeafCells / 32) break;
      const size_t more = count * (kLeafCells - cells) / cells;
      count = std::min(codes.size(), count + std::clamp<size_t>(more, 1, 64 * kLeafCells));
    }
    if (best == 0) return with_equals(1);
    const size_t even =
        EvenlySpread(codes.first(best), low, best < codes.size() ? codes[best] : high);
    if (even == best) return best;
    // The shorter leaf has narrower cells, so more of them may be occupied.
    const CodeCells all(low, codes[even], kLeafCells * cells_per_key_);
    const bool fits = CountCells(codes.first(even), all) <= kLeafCells;
    return fits ? even : Cut(codes.first(even), low, codes[even]);
  }

  /// The number of a leaf's keys that are about as dense as the first ones. Cells have equal width:
  /// in a leaf of uneven density, many keys would share cells while most cells stay empty.
  static size_t EvenlySpread(std::span<const uint64_t> codes, uint64_t low,
                             uint64_t high) noexcept {
    size_t count = codes.size();
    while (count >= 2 * kMinKeys) {
      const uint64_t middle = low + (high - low) / 2;
      const auto below = static_cast<size_t>(
          std::lower_bound(codes.begin(), codes.begin() + count, middle) - codes.begin());
      const size_t above = count - below;
      if (std::max(below, above) < kUneven * std::min(below, above)) break;
      if (below < kMinKeys) break;
      count = below;
      if (below < above) break;
      high = middle;
    }
    return count;
  }

  /// Appends the leaf of keys.
  void AppendLeaf(const Keys& keys, BitWriter* out) {
    // The occupied cells, the first key of each, and the number of keys.
    const auto all_cells = std::unique_ptr<uint32_t[]>(new uint32_t[keys.codes.size()]);
    const auto begins = std::unique_ptr<size_t[]>(new size_t[keys.codes.size() + 1]);
    const auto place = [codes = keys.codes, cells = all_cells.get(), begins = begins.get(), &keys,
                        this](uint64_t room) {
      const CodeCells all(keys.low, keys.high, room * cells_per_key_);
      size_t count = 0;
      uint64_t last = UINT64_MAX;
      for (size_t i = 0; i < codes.size(); ++i) {
        const uint64_t cell = all.OfInside(codes[i]);
        if (cell == last) continue;
        last = cell;
        cells[count] = static_cast<uint32_t>(cell);
        begins[count++] = i;
      }
      begins[count] = codes.size();
      return count;
    };
    // The number of cells is proportional to that of occupied ones, which depends on their width.
    uint64_t room = std::min<uint64_t>(keys.codes.size(), kLeafCells);
    size_t count = place(room);
    while (count < room - room / 32) count = place(room = count);
    while (count > room) count = place(room = count);
    const std::span<const uint32_t> cells(all_cells.get(), count);

    std::vector<size_t> clusters;
    size_t clustered = 0;
    size_t alone = 0;
    for (size_t i = 0; i < cells.size(); ++i) {
      const size_t size = begins[i + 1] - begins[i];
      alone += size == 1 ? 1 : 0;
      if (size < kMinClusterKeys || keys.nested == kMaxNesting) continue;
      const size_t first = keys.first + begins[i];
      if (SharedBytes(keys_[first], keys_[first + size - 1]) > keys.depth) {
        clusters.push_back(i);
        clustered += size;
      }
    }
    shape_.keys_alone += alone;
    // Clusters take a bit per cell. Spent on narrower cells, which halve the FPR with each bit, it
    // would lower the FPR by ln 2 of itself. Clusters lower it by the share of their keys, whose
    // FPR would be 1 otherwise.
    const bool is_worth = 10 * clustered * cells_per_key_ > 7 * cells.size();
    if (!is_worth) clusters.clear();
    out->ExpGolomb(room - 1, kCountK);
    out->ExpGolomb(room - cells.size(), kMissingK);
    out->Bits(clusters.empty() ? 0 : 1, 1);
    AppendCells(cells, room * cells_per_key_, cells_per_key_, out);
    if (clusters.empty()) return;
    for (size_t i = 0, next = 0; i < cells.size(); ++i) {
      const bool is_cluster = next < clusters.size() && clusters[next] == i;
      out->Bits(is_cluster ? 1 : 0, 1);
      if (is_cluster) ++next;
    }
    BitWriter bits;
    std::vector<uint64_t> sizes;
    for (size_t i = 0; i < clusters.size(); ++i) {
      if (i % kSizedClusters == 0 && i != 0) sizes.push_back(bits.num_bits());
      const size_t begin = begins[clusters[i]];
      AppendCluster(keys, begin, begins[clusters[i] + 1], &bits);
    }
    for (const uint64_t size : sizes) out->Bits(size, kOffsetBits);
    out->Append(std::move(bits));
  }

  /// Appends the cluster of keys `begin` to `end` of a leaf.
  void AppendCluster(const Keys& leaf, size_t begin, size_t end, BitWriter* out) {
    ++shape_.clusters;
    const size_t first = leaf.first + begin;
    const size_t count = end - begin;
    const size_t shared = SharedBytes(keys_[first], keys_[first + count - 1]);
    std::vector<uint64_t> codes(count);
    for (size_t i = 0; i < count; ++i) codes[i] = code_.Code(keys_[first + i], shared);
    out->ExpGolomb(shared - leaf.depth - 1, kSharedK);
    out->Bits(FingerprintOf(keys_[first].substr(leaf.depth, shared - leaf.depth)),
              kFingerprintBits);
    const uint64_t low = codes.front() >> kSliceShift;
    const uint64_t high = codes.back() >> kSliceShift;
    const bool is_narrow = high - low < kSlices / 2;
    out->Bits(is_narrow ? 1 : 0, 1);
    if (is_narrow) out->Bits(low | high << kSliceBits, 2 * kSliceBits);
    const uint64_t first_code = is_narrow ? low << kSliceShift : 0;
    const uint64_t last_code =
        is_narrow ? ((high + 1) << kSliceShift) - 1 : OrderPreservingCode::kEnd - 1;
    const Keys keys{first, shared, leaf.nested + 1, codes, first_code, last_code};
    out->Bits(count > kLeafCells ? 1 : 0, 1);
    if (count <= kLeafCells) return AppendLeaf(keys, out);
    std::string node;
    AppendNode(keys, &node);
    out->Bits(nodes_.size(), kOffsetBits);
    nodes_ += node;
  }

  const SortedKeys& keys_;
  const OrderPreservingCode& code_;
  const uint64_t cells_per_key_;
  TreeShape shape_;
  std::string nodes_;  // nodes of clusters that are too large for a leaf
};

std::vector<uint64_t> EncodeKeys(const SortedKeys& keys, size_t first, size_t count,
                                 SortedCodes* sorted) {
  std::vector<uint64_t> codes(count);
  auto at = keys.begin() + static_cast<std::ptrdiff_t>(first);
  for (size_t i = 0; i < count; ++i, ++at) {
    codes[i] = sorted->Next(at->key(), i == 0 ? 0 : at->shared);
  }
  return codes;
}

}  // namespace

TreeShape AppendTree(const SortedKeys& keys, const OrderPreservingCode& code,
                     uint64_t cells_per_key, std::string* out) {
  assert(cells_per_key >= 2 && cells_per_key <= kMaxCellsPerKey);
  SortedCodes sorted(code);
  const std::vector<uint64_t> codes = EncodeKeys(keys, 0, keys.size(), &sorted);
  TreeWriter writer(keys, code, cells_per_key);
  const size_t before = out->size();
  writer.AppendNode({0, 0, 0, codes, codes.front(), codes.back()}, out);
  TreeShape shape = writer.shape();
  shape.keys = keys.size();
  shape.root_bytes = static_cast<uint32_t>(out->size() - before);
  out->append(writer.nodes());
  return shape;
}

TreeShape TryTree(const SortedKeys& keys, const OrderPreservingCode& code, uint64_t cells_per_key) {
  const size_t count =
      std::clamp(keys.size() / (kStretches * kTriedPart), kMinStretch, kMaxStretch);
  if (keys.size() < 2 * kStretches * count) return {};
  SortedCodes sorted(code);
  TreeWriter writer(keys, code, cells_per_key);
  std::string unused;
  for (size_t i = 0; i < kStretches; ++i) {
    const size_t first = (keys.size() - count) / (kStretches - 1) * i;
    const std::vector<uint64_t> codes = EncodeKeys(keys, first, count, &sorted);
    writer.AppendNode({first, 0, 0, codes, codes.front(), codes.back()}, &unused);
  }
  TreeShape shape = writer.shape();
  shape.keys = kStretches * count;
  return shape;
}

}  // namespace blocksieve::internal
