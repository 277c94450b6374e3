#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lib/base/coding.h"
#include "lib/base/kernels.h"
#include "lib/bits/packed.h"
#include "lib/granule/sizing.h"

// The size class of each granule, as a Huffman-shaped wavelet tree (Grossi, Gupta, Vitter, 2003;
// Maekinen, Navarro, 2005). A leaf is a class; an inner node has one bit per granule below it, 0
// for granules of its left child. Granules of rare classes take more bits: if nearly all are of one
// class, about one bit per granule instead of four. Results are merged bottom-up, word by word.

namespace blocksieve::internal {

/// Size of the map from granules to classes, in bits. REQUIRES: 1 <= classes.size() <=
/// kMaxSizeClasses
uint64_t ClassMapBits(std::span<const SizeClass> classes);

class ClassTree {
 public:
  /// Appends the tree. REQUIRES: class_of[g] < classes.size(); classes[c] occurs num_granules times
  static void Append(std::span<const SizeClass> classes, std::span<const uint8_t> class_of,
                     std::string* out);

  /// Decodes the tree. False if it is damaged or does not match the classes or number of granules.
  bool Read(std::span<const SizeClass> classes, uint64_t num_granules, Decoder* from);

  /// Words of a class's results for PruneByResults.
  size_t class_words(size_t size_class) const noexcept { return Words(leaves_[size_class]); }
  uint64_t map_bytes() const noexcept { return map_bytes_; }

  /// Removes granules from `candidates` (bit g: granule g) whose bit in `results` is zero. Bit i of
  /// a class's results is its i-th granule; class_words() words, zero beyond the last granule.
  void PruneByResults(std::span<uint64_t* const> results, std::span<uint64_t> candidates,
                      Kernel kernel) const;

 private:
  struct Node {
    int size_class = -1;  // leaf
    size_t right = 0;     // inner node: the right child; the left child is the next node
    uint64_t count = 0;   // granules
    PackedInts bits;
  };

  /// Words of a node's granules, plus one, so that 64 bits can be read from any of them.
  static size_t Words(uint64_t count) noexcept { return static_cast<size_t>(count / 64) + 2; }

  bool ReadNode(std::span<const SizeClass> classes, unsigned depth, Decoder* from);
  const uint64_t* Merged(size_t node, std::span<uint64_t* const> results, uint64_t* scratch,
                         Kernel kernel) const;

  std::vector<Node> nodes_;       // in preorder
  std::vector<uint64_t> leaves_;  // granules of each class
  size_t scratch_words_ = 0;
  uint64_t map_bytes_ = 0;
};

}  // namespace blocksieve::internal
