#include "lib/granule/class_tree.h"

#include <array>
#include <bit>
#include <cassert>
#include <functional>
#include <queue>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "lib/granule/bit_slices.h"

namespace blocksieve::internal {
namespace {

constexpr uint8_t kInner = 0xff;

/// Sequential reader of bits.
class BitStream {
 public:
  explicit BitStream(const uint64_t* words) noexcept : words_(words) {}

  /// Returns the next 64 bits and advances by `used`.
  uint64_t Take(unsigned used) noexcept {
    const unsigned shift = at_ % 64;
    const uint64_t* word = words_ + at_ / 64;
    const uint64_t bits = shift == 0 ? *word : *word >> shift | word[1] << (64 - shift);
    at_ += used;
    return bits;
  }

 private:
  const uint64_t* words_;
  size_t at_ = 0;
};

/// Merges the results of both children: bit i of `out` is the next bit of the child that bit i of
/// the node selects.
template <class Deposit>
inline __attribute__((always_inline)) void MergeBody(const PackedInts& bits, uint64_t count,
                                                     const uint64_t* left, const uint64_t* right,
                                                     uint64_t* out, Deposit deposit) noexcept {
  BitStream lefts(left);
  BitStream rights(right);
  uint64_t w = 0;
  for (; 64 * w < count; ++w) {
    uint64_t ones = bits.Word(w);
    uint64_t zeros = ~ones;
    if (count - 64 * w < 64) {
      const uint64_t inside = (uint64_t{1} << (count - 64 * w)) - 1;
      ones &= inside;
      zeros &= inside;
    }
    const auto num_ones = static_cast<unsigned>(std::popcount(ones));
    const uint64_t from_left = lefts.Take(64 - num_ones);
    out[w] = deposit(from_left, zeros) | deposit(rights.Take(num_ones), ones);
  }
  out[w] = 0;
}

#if defined(__x86_64__)
__attribute__((target("bmi2,popcnt"))) void MergeBmi2(const PackedInts& bits, uint64_t count,
                                                      const uint64_t* left, const uint64_t* right,
                                                      uint64_t* out) noexcept {
  MergeBody(
      bits, count, left, right, out,
      [](uint64_t packed, uint64_t mask) __attribute__((target("bmi2,popcnt"))) {
        // Nearly always zero, and the instruction takes hundreds of cycles on Zen 1 and 2.
        return packed == 0 ? uint64_t{0} : static_cast<uint64_t>(_pdep_u64(packed, mask));
      });
}
#endif

void Merge(const PackedInts& bits, uint64_t count, const uint64_t* left, const uint64_t* right,
           uint64_t* out, [[maybe_unused]] Kernel kernel) noexcept {
#if defined(__x86_64__)
  if (kernel != Kernel::kScalar) return MergeBmi2(bits, count, left, right, out);
#endif
  MergeBody(bits, count, left, right, out, DepositBits);
}

// O(encoded size): constant time if all bits are equal.
uint64_t CountOnes(const PackedInts& bits, uint64_t count) noexcept {
  if (bits.IsConstant()) return bits.Word(0) == 0 ? 0 : count;
  uint64_t ones = 0;
  for (uint64_t i = 0; i < count; i += 64) {
    uint64_t word = bits.Word(i / 64);
    if (count - i < 64) word &= (uint64_t{1} << (count - i)) - 1;
    ones += static_cast<uint64_t>(std::popcount(word));
  }
  return ones;
}

struct HuffmanNode {
  uint64_t count = 0;
  int size_class = -1;
  int left = -1;
  int right = -1;
};

/// Nodes of the Huffman tree, the root last.
std::vector<HuffmanNode> Huffman(std::span<const SizeClass> classes) {
  assert(!classes.empty() && classes.size() <= kMaxSizeClasses);
  std::vector<HuffmanNode> nodes;
  // The rarest first; of equally rare ones, the one made first.
  using Root = std::pair<uint64_t, int>;
  std::priority_queue<Root, std::vector<Root>, std::greater<>> roots;
  const auto add = [&](const HuffmanNode& node) {
    roots.emplace(node.count, static_cast<int>(nodes.size()));
    nodes.push_back(node);
  };
  const auto take_rarest = [&] {
    const Root rarest = roots.top();
    roots.pop();
    return rarest;
  };
  int number = 0;
  for (const SizeClass& size_class : classes) add({size_class.num_granules, number++, -1, -1});
  while (roots.size() > 1) {
    const auto [right_count, right] = take_rarest();
    const auto [left_count, left] = take_rarest();
    add({left_count + right_count, -1, left, right});
  }
  return nodes;
}

void AppendNode(const std::vector<HuffmanNode>& nodes, int node, std::span<const uint8_t> class_of,
                std::string* shape, std::string* bits) {
  const HuffmanNode& here = nodes[static_cast<size_t>(node)];
  shape->push_back(static_cast<char>(here.size_class));  // -1: 0xff
  if (here.size_class >= 0) return;

  // On which side each class is.
  enum Side : uint8_t { kElsewhere, kLeft, kRight };
  std::array<Side, kMaxSizeClasses> sides{};
  const auto mark = [&](auto& self, int below, Side side) -> void {
    const HuffmanNode& n = nodes[static_cast<size_t>(below)];
    if (n.size_class >= 0) {
      sides[static_cast<size_t>(n.size_class)] = side;
    } else {
      self(self, n.left, side);
      self(self, n.right, side);
    }
  };
  mark(mark, here.left, kLeft);
  mark(mark, here.right, kRight);

  std::vector<uint64_t> words;
  uint64_t count = 0;
  for (const uint8_t size_class : class_of) {
    if (sides[size_class] == kElsewhere) continue;
    AppendBit(sides[size_class] == kRight, count++, &words);
  }
  PackedInts::AppendBits(words, count, bits);
  AppendNode(nodes, here.left, class_of, shape, bits);
  AppendNode(nodes, here.right, class_of, shape, bits);
}

}  // namespace

uint64_t ClassMapBits(std::span<const SizeClass> classes) {
  uint64_t bits = 0;
  for (const HuffmanNode& node : Huffman(classes)) {
    if (node.size_class < 0) bits += node.count;
  }
  return bits;
}

void ClassTree::Append(std::span<const SizeClass> classes, std::span<const uint8_t> class_of,
                       std::string* out) {
  const std::vector<HuffmanNode> nodes = Huffman(classes);
  std::string bits;
  AppendNode(nodes, static_cast<int>(nodes.size()) - 1, class_of, out, &bits);
  *out += bits;
}

bool ClassTree::ReadNode(std::span<const SizeClass> classes, unsigned depth, Decoder* from) {
  const uint8_t what = from->Fixed<uint8_t>();
  if (!from->ok() || depth >= classes.size()) return false;
  const size_t node = nodes_.size();
  nodes_.push_back({});
  if (what != kInner) {
    if (what >= classes.size()) return false;
    nodes_[node].size_class = what;
    nodes_[node].count = classes[what].num_granules;
    return true;
  }
  if (!ReadNode(classes, depth + 1, from)) return false;
  const size_t right = nodes_.size();
  if (!ReadNode(classes, depth + 1, from)) return false;
  nodes_[node].right = right;
  nodes_[node].count = nodes_[node + 1].count + nodes_[right].count;
  return true;
}

bool ClassTree::Read(std::span<const SizeClass> classes, uint64_t num_granules, Decoder* from) {
  const size_t start = from->rest().size();
  std::vector<bool> seen(classes.size());
  for (const SizeClass& size_class : classes) {
    if (size_class.num_granules > num_granules) return false;
    leaves_.push_back(size_class.num_granules);
  }
  if (!ReadNode(classes, 0, from) || nodes_.front().count != num_granules) return false;
  for (Node& node : nodes_) {
    scratch_words_ += Words(node.count);
    if (node.size_class >= 0) {
      if (seen[static_cast<size_t>(node.size_class)]) return false;
      seen[static_cast<size_t>(node.size_class)] = true;
      continue;
    }
    node.bits = PackedInts::Read(node.count, from);
    if (!from->ok() || !node.bits.IsBits()) return false;
    if (CountOnes(node.bits, node.count) != nodes_[node.right].count) return false;
  }
  map_bytes_ = start - from->rest().size();
  // Each class is one leaf: ReadNode rejects duplicates, and this checks the number of leaves.
  return nodes_.size() == 2 * classes.size() - 1;
}

const uint64_t* ClassTree::Merged(size_t node, std::span<uint64_t* const> results,
                                  uint64_t* scratch, Kernel kernel) const {
  const Node& here = nodes_[node];
  if (here.size_class >= 0) return results[static_cast<size_t>(here.size_class)];
  uint64_t* rest = scratch + Words(here.count);
  const uint64_t* left = Merged(node + 1, results, rest, kernel);
  // The left subtree uses at most the scratch memory of its nodes.
  for (size_t below = node + 1; below < here.right; ++below) rest += Words(nodes_[below].count);
  const uint64_t* right = Merged(here.right, results, rest, kernel);
  Merge(here.bits, here.count, left, right, scratch, kernel);
  return scratch;
}

void ClassTree::PruneByResults(std::span<uint64_t* const> results, std::span<uint64_t> candidates,
                               Kernel kernel) const {
  ScratchWords scratch(scratch_words_);
  const uint64_t* merged = Merged(0, results, scratch.data(), kernel);
  for (size_t w = 0; w < candidates.size(); ++w) candidates[w] &= merged[w];
}

}  // namespace blocksieve::internal
