#include <algorithm>
#include <array>

#include "lib/granule/class_tree.h"

namespace blocksieve::internal {
namespace {

struct HuffmanNode {
  uint64_t count = 0;
  int size_class = -1;
  int left = -1;
  int right = -1;
};

/// Nodes of the Huffman tree, the root last.
std::vector<HuffmanNode> Huffman(std::span<const SizeClass> classes) {
  std::vector<HuffmanNode> nodes;
  std::vector<int> roots;
  for (const SizeClass& size_class : classes) {
    const int node = static_cast<int>(nodes.size());
    roots.push_back(node);
    nodes.push_back({size_class.num_granules, node, -1, -1});
  }
  const auto take_rarest = [&] {
    const auto rarest = std::min_element(roots.begin(), roots.end(), [&](int a, int b) {
      return nodes[static_cast<size_t>(a)].count < nodes[static_cast<size_t>(b)].count;
    });
    const int node = *rarest;
    roots.erase(rarest);
    return node;
  };
  while (roots.size() > 1) {
    const int right = take_rarest();
    const int left = take_rarest();
    roots.push_back(static_cast<int>(nodes.size()));
    nodes.push_back(
        {nodes[static_cast<size_t>(left)].count + nodes[static_cast<size_t>(right)].count, -1, left,
         right});
  }
  return nodes;
}

void AppendNode(const std::vector<HuffmanNode>& nodes, int node, std::span<const uint8_t> class_of,
                std::string* shape, std::string* bits) {
  const HuffmanNode& here = nodes[static_cast<size_t>(node)];
  shape->push_back(static_cast<char>(here.size_class));  // -1: 0xff
  if (here.size_class >= 0) return;

  // Which classes are below, and on which side.
  enum Side : uint8_t { kElsewhere, kLeft, kRight };
  std::array<Side, kMaxSizeClasses> sides{};
  const auto mark = [&](auto& self, int below, Side side) -> void {
    const HuffmanNode& n = nodes[static_cast<size_t>(below)];
    if (n.size_class >= 0) {
      sides[static_cast<size_t>(n.size_class)] = side;
      return;
    }
    self(self, n.left, side);
    self(self, n.right, side);
  };
  mark(mark, here.left, kLeft);
  mark(mark, here.right, kRight);

  std::vector<uint64_t> words;
  uint64_t count = 0;
  for (const uint8_t size_class : class_of) {
    if (sides[size_class] == kElsewhere) continue;
    if (count % 64 == 0) words.push_back(0);
    words.back() |= uint64_t{sides[size_class] == kRight} << (count % 64);
    ++count;
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

}  // namespace blocksieve::internal
