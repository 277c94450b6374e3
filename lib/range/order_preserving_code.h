#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "lib/base/coding.h"
#include "lib/range/sorted_keys.h"

// Numbers that order as keys do, and whose distances say how many keys to expect in between: an
// arithmetic code whose model is learnt from the keys of the filter. lib/FORMAT.md specifies it.

namespace blocksieve::internal {

/// 2^64 / i, rounded down: dividing by multiplication.
inline constexpr auto kReciprocals = [] {
  std::array<uint64_t, 257> reciprocals{};
  for (uint64_t i = 2; i < reciprocals.size(); ++i) reciprocals[i] = UINT64_MAX / i;
  return reciprocals;
}();

/// How many there are of what a model consists of; it lies apart from the model.
struct CodeSizes {
  uint8_t symbols;  // 0: each byte is a part
  uint8_t prefix_bytes;
  uint8_t positions;
};

/// The model as it lies in a filter. It refers to the filter's bytes, which must outlive it.
class OrderPreservingCode {
 public:
  /// Codes are below this.
  static constexpr uint64_t kEnd = uint64_t{1} << 63;

  /// Takes a model off the front. Damage shows in `from->ok()`.
  OrderPreservingCode(const CodeSizes& sizes, Decoder* from) noexcept;

  /// Of no keys.
  OrderPreservingCode() = default;

  /// The code of what follows the first `depth` bytes of a key. If a <= b, and both begin with the
  /// same `depth` bytes, then Code(a, depth) <= Code(b, depth). REQUIRES: depth <= key.size()
  uint64_t Code(std::string_view key, size_t depth) const noexcept {
    size_t i = depth;
    if (i < prefix_bytes_) {
      const size_t count = key.size() < prefix_bytes_ ? key.size() : prefix_bytes_;
      // An empty key may have no address.
      const int order = i == count ? 0 : std::memcmp(key.data() + i, prefix_ + i, count - i);
      if (order != 0) return order < 0 ? 0 : kEnd - 1;
      i = count;
    }
    State state;
    state.edges = i == prefix_bytes_ || IsFixed(i - 1) ? kBothEdges : 0;
    while (i < key.size() && Go(static_cast<uint8_t>(key[i]), i - prefix_bytes_, &state)) ++i;
    return state.code;
  }

 private:
  friend class CodeLearner;
  friend class SortedCodes;

  static constexpr uint64_t kMaxParts = 256;
  static constexpr size_t kMaxPositions = 64;
  static constexpr size_t kPositionBytes = 4;

  // Whether the bytes before this one are the lowest, or the highest, that keys have there.
  static constexpr unsigned kLowEdge = 1;
  static constexpr unsigned kHighEdge = 2;
  static constexpr unsigned kBothEdges = 3;

  /// What a byte takes of the range.
  struct Share {
    uint32_t begin;
    uint32_t parts;  // 0: no key has this byte
  };

  /// What is known of a key whose first bytes were looked at.
  struct State {
    uint64_t code = 0;
    uint64_t range = kEnd;  // how many codes there are for keys that begin so
    unsigned edges = kBothEdges;
  };

  /// The parts that lie at a position, from the first to the last one.
  struct Parts {
    uint32_t first;
    uint32_t last;
  };

  Parts PartsAt(size_t position, unsigned edges) const noexcept {
    if (position >= num_positions_) return {0, last_part_};
    const uint8_t* const known = positions_ + position * kPositionBytes;
    // Away from the edges, which most keys soon are, nothing here waits for the byte before.
    if (edges == 0) return {known[0], known[1]};
    return {known[edges == kLowEdge ? 2 : 0], known[edges == kHighEdge ? 3 : 1]};
  }

  /// Goes on with the byte at a position. False if the bytes behind it make no difference.
  bool Go(uint8_t byte, size_t position, State* state) const noexcept {
    const Share share = IsSymbol(position) ? ShareOf(byte) : Share{byte, 1};
    return Take(share, PartsAt(position, state->edges), state);
  }

  /// Goes on with what has a share of some parts.
  static bool Take(Share share, Parts parts, State* state) noexcept {
    const auto [first, last] = parts;
    if (share.begin < first) return false;
    if (share.begin > last) {
      state->code += state->range - 1;
      return false;
    }
    if (first == last && share.parts != 0) {
      state->edges = kBothEdges;
      return true;
    }
    state->range = static_cast<uint64_t>(
        static_cast<unsigned __int128>(state->range) * kReciprocals[last - first + 1] >> 64);
    state->code += state->range * (share.begin - first);
    state->range *= share.parts;
    if (state->edges != 0) {
      state->edges &= (share.begin == first ? kLowEdge : 0) |
                      (share.begin + share.parts - 1 == last ? kHighEdge : 0);
    }
    return state->range > kMaxParts;
  }

  bool IsSymbol(size_t position) const noexcept {
    if (num_symbols_ == 0 || position >= num_positions_) return num_symbols_ != 0;
    return (is_symbol_[position / 8] >> (position % 8) & 1) != 0;
  }

  bool IsFixed(size_t i) const noexcept {
    if (i < prefix_bytes_) return true;
    const size_t position = i - prefix_bytes_;
    if (position >= num_positions_) return false;
    const uint8_t* const known = positions_ + position * kPositionBytes;
    return known[0] == known[1];
  }

  Share ShareOf(uint8_t byte) const noexcept {
    const uint64_t word = in_use_[byte / 64];
    const uint64_t bit = uint64_t{1} << (byte % 64);
    const size_t rank = ranks_[byte / 64] + static_cast<size_t>(std::popcount(word & (bit - 1)));
    const uint32_t begin = begins_[rank];
    return {begin, (word & bit) == 0 ? 0 : begins_[rank + 1] - begin};
  }

  // Bytes that all keys begin with.
  const uint8_t* prefix_ = nullptr;
  size_t prefix_bytes_ = 0;

  // Of each position behind them: the lowest and the highest part, the lowest one at the low edge,
  // and the highest one at the high edge.
  const uint8_t* positions_ = nullptr;
  size_t num_positions_ = 0;

  // Where some bytes never occur, parts belong to those that do, the more the more frequent they
  // are. Elsewhere each byte is a part.
  const uint8_t* is_symbol_ = nullptr;  // a bit for each position
  const uint8_t* begins_ = nullptr;     // of each symbol's parts, and the end of all
  size_t num_symbols_ = 0;
  uint32_t last_part_ = 255;
  std::array<uint64_t, 4> in_use_ = {};
  std::array<uint8_t, 4> ranks_ = {};  // how many symbols are below each word
};

/// Appends the model of these keys. REQUIRES: there are keys
CodeSizes AppendKeyCode(const SortedKeys& keys, std::string* out);

}  // namespace blocksieve::internal
