#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lib/base/coding.h"
#include "lib/base/kernels.h"
#include "lib/bits/packed.h"
#include "lib/granule/sizing.h"

// Which granule is of which size class, as a wavelet tree of Huffman shape (Grossi, Gupta, Vitter,
// 2003; Maekinen, Navarro, 2005). A leaf is a class; an inner node has one bit for each granule
// below it, 0 for those of its left child. The rarer a class is, the more bits its granules take:
// where nearly all are of one class, about one bit per granule instead of four. Results of the
// classes are merged bottom-up, word by word.
//   nodes in preorder: class number, or 0xff for an inner one | bits of the inner nodes in preorder

namespace blocksieve::internal {

/// Bits of the map from granules to classes. REQUIRES: 1 <= classes.size() <= kMaxSizeClasses
uint64_t ClassMapBits(std::span<const SizeClass> classes);

class ClassTree {
 public:
  /// Appends the tree. REQUIRES: class_of[g] < classes.size(), as often as the classes say
  static void Append(std::span<const SizeClass> classes, std::span<const uint8_t> class_of,
                     std::string* out);

  /// Takes the tree off the front of the decoder. False if it is damaged or does not fit the
  /// classes or the number of granules.
  bool Read(std::span<const SizeClass> classes, uint64_t num_granules, Decoder* from);

  /// Words that PruneByResults needs for the results of a class.
  size_t class_words(size_t size_class) const noexcept { return Words(leaves_[size_class]); }
  uint64_t map_bytes() const noexcept { return map_bytes_; }

  /// Removes from `candidates` (bit g: granule g) those whose bit is zero in `results` (of each
  /// class: bit i is its i-th granule; class_words() words, zero beyond its last granule).
  void PruneByResults(std::span<uint64_t* const> results, std::span<uint64_t> candidates,
                      Kernel kernel) const;

 private:
  struct Node {
    int size_class = -1;  // of a leaf
    size_t right = 0;     // of an inner node; its left child follows it
    uint64_t count = 0;   // granules
    PackedInts bits;
  };

  /// Words of a node's granules, and one more, so that 64 bits can be read at any of them.
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
