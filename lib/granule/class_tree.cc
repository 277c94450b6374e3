#include "lib/granule/class_tree.h"

#include <array>
#include <bit>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "lib/granule/bit_slices.h"

namespace blocksieve::internal {
namespace {

constexpr uint8_t kInner = 0xff;

/// Bits read one after the other from words.
class BitStream {
 public:
  explicit BitStream(const uint64_t* words) noexcept : words_(words) {}

  /// The next 64 bits, of which `used` are passed over.
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

/// out[w] = bit i of the left or right results, in order, as the node's bit says.
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

void MergePortable(const PackedInts& bits, uint64_t count, const uint64_t* left,
                   const uint64_t* right, uint64_t* out) noexcept {
  MergeBody(bits, count, left, right, out,
            [](uint64_t packed, uint64_t mask) { return DepositBits(packed, mask); });
}

#if defined(__x86_64__)
__attribute__((target("bmi2,popcnt"))) void MergeBmi2(const PackedInts& bits, uint64_t count,
                                                      const uint64_t* left, const uint64_t* right,
                                                      uint64_t* out) noexcept {
  MergeBody(
      bits, count, left, right, out,
      [](uint64_t packed, uint64_t mask) __attribute__((target("bmi2,popcnt"))) {
        // Nearly always nothing is set; and Zen 1 and 2 take hundreds of cycles.
        return packed == 0 ? uint64_t{0} : static_cast<uint64_t>(_pdep_u64(packed, mask));
      });
}
#endif

void Merge(const PackedInts& bits, uint64_t count, const uint64_t* left, const uint64_t* right,
           uint64_t* out, [[maybe_unused]] Kernel kernel) noexcept {
#if defined(__x86_64__)
  if (kernel != Kernel::kScalar) return MergeBmi2(bits, count, left, right, out);
#endif
  MergePortable(bits, count, left, right, out);
}

}  // namespace

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

// Time in proportion to the bytes that the bits take: none if they are all the same.
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
  // Every class once: as many leaves as classes, none twice.
  return nodes_.size() == 2 * classes.size() - 1;
}

const uint64_t* ClassTree::Merged(size_t node, std::span<uint64_t* const> results,
                                  uint64_t* scratch, Kernel kernel) const {
  const Node& here = nodes_[node];
  if (here.size_class >= 0) return results[static_cast<size_t>(here.size_class)];
  uint64_t* rest = scratch + Words(here.count);
  const uint64_t* left = Merged(node + 1, results, rest, kernel);
  // What the left child needed of the scratch memory is at most what its subtree counts.
  for (size_t below = node + 1; below < here.right; ++below) rest += Words(nodes_[below].count);
  const uint64_t* right = Merged(here.right, results, rest, kernel);
  Merge(here.bits, here.count, left, right, scratch, kernel);
  return scratch;
}

void ClassTree::KeepMerged(std::span<uint64_t* const> results, std::span<uint64_t> candidates,
                           Kernel kernel) const {
  // Most indexes fit the array.
  std::array<uint64_t, 512> few;
  std::vector<uint64_t> many;
  uint64_t* scratch = few.data();
  if (scratch_words_ > few.size()) {
    many.resize(scratch_words_);
    scratch = many.data();
  }
  const uint64_t* merged = Merged(0, results, scratch, kernel);
  for (size_t w = 0; w < candidates.size(); ++w) candidates[w] &= merged[w];
}

}  // namespace blocksieve::internal
