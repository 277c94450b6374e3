#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "lib/base/coding.h"
#include "lib/range/sorted_keys.h"

// Maps keys to numbers of the same order, whose differences are proportional to the number of keys
// expected in between: an arithmetic code with a model learnt from the filter's keys. lib/FORMAT.md
// specifies it.

namespace blocksieve::internal {

/// 2^64 / i, rounded down, to divide by multiplication.
inline constexpr auto kReciprocals = [] {
  std::array<uint64_t, 257> reciprocals{};
  for (uint64_t i = 2; i < reciprocals.size(); ++i) reciprocals[i] = UINT64_MAX / i;
  return reciprocals;
}();

/// Sizes of a model's tables, stored in the head of the range part.
struct CodeSizes {
  uint8_t symbols;  // 0: each byte value is one part
  uint8_t prefix_bytes;
  uint8_t positions;
};

/// The code of a model in a filter, whose bytes must outlive it.
class OrderPreservingCode {
 public:
  /// All codes are below this.
  static constexpr uint64_t kEnd = uint64_t{1} << 63;

  /// Decodes a model from the front. If it is damaged, from->ok() is false.
  OrderPreservingCode(const CodeSizes& sizes, Decoder* from) noexcept;

  OrderPreservingCode() = default;

  /// The code of a key without its first `depth` bytes. If a <= b, and both start with the same
  /// `depth` bytes, then Code(a, depth) <= Code(b, depth). REQUIRES: depth <= key.size()
  uint64_t Code(std::string_view key, size_t depth) const noexcept {
    State state;
    return StartAt(key, &depth, &state) ? Add(key, depth, state) : state.code;
  }

  /// The codes of both ends of a range; encodes the bytes that they share once. REQUIRES: as Code
  std::pair<uint64_t, uint64_t> Codes(std::string_view begin, std::string_view end,
                                      size_t depth) const noexcept {
    const size_t shared = SharedBytes(begin, end);
    if (shared < prefix_bytes_) return {Code(begin, depth), Code(end, depth)};
    State state;
    if (!StartAt(begin, &depth, &state)) return {state.code, state.code};
    for (; depth < shared && !IsWord(depth - prefix_bytes_); ++depth) {
      if (!AddByte(static_cast<uint8_t>(begin[depth]), depth - prefix_bytes_, &state)) {
        return {state.code, state.code};
      }
    }
    return {Add(begin, depth, state), Add(end, depth, state)};
  }

 private:
  friend class CodeLearner;
  friend class SortedCodes;

  static constexpr uint64_t kMaxParts = 256;
  static constexpr size_t kMaxPositions = 64;
  static constexpr size_t kPositionBytes = 4;

  // Whether all bytes so far were the lowest, or the highest, that keys have at their positions.
  static constexpr unsigned kLowEdge = 1;
  static constexpr unsigned kHighEdge = 2;
  static constexpr unsigned kBothEdges = 3;

  /// A byte's share of the range, in parts.
  struct Share {
    uint32_t begin;
    uint32_t parts;  // 0: no key has this byte
  };

  /// State of the coder after the first bytes of a key.
  struct State {
    uint64_t code = 0;
    uint64_t range = kEnd;  // number of codes of keys that start with these bytes
    unsigned edges = kBothEdges;
  };

  /// Moves `i` past the prefix. False if the key differs from it, which decides the code.
  bool StartAt(std::string_view key, size_t* i, State* state) const noexcept {
    if (*i < prefix_bytes_) {
      const size_t count = key.size() < prefix_bytes_ ? key.size() : prefix_bytes_;
      // The data pointer of an empty key may be null.
      const int order = *i == count ? 0 : std::memcmp(key.data() + *i, prefix_ + *i, count - *i);
      if (order != 0) {
        state->code = order < 0 ? 0 : kEnd - 1;
        return false;
      }
      *i = count;
    }
    state->edges = *i == prefix_bytes_ || IsFixed(*i - 1) ? kBothEdges : 0;
    return true;
  }

  /// The code of a key whose bytes below `i` led to `state`.
  uint64_t Add(std::string_view key, size_t i, State state) const noexcept {
    for (; i < key.size(); ++i) {
      const size_t position = i - prefix_bytes_;
      if (IsWord(position)) return AddWord(key.substr(i), state);
      if (!AddByte(static_cast<uint8_t>(key[i]), position, &state)) break;
    }
    return state.code;
  }

  /// Whether the eight bytes from a position on are one digit: no byte value there is unlikely.
  bool IsWord(size_t position) const noexcept {
    return num_symbols_ == 0 && position >= num_positions_;
  }

  /// The code of a key with `rest` after the bytes that led to `state`. REQUIRES: IsWord there
  static uint64_t AddWord(std::string_view rest, const State& state) noexcept {
    uint8_t padded[sizeof(uint64_t)] = {};
    const auto* bytes = reinterpret_cast<const uint8_t*>(rest.data());
    if (rest.size() < sizeof(padded)) {
      std::memcpy(padded, bytes, rest.size());
      bytes = padded;
    }
    const uint64_t word = __builtin_bswap64(LoadLittleEndian<uint64_t>(bytes));
    return state.code +
           static_cast<uint64_t>(static_cast<unsigned __int128>(state.range) * word >> 64);
  }

  /// The first and the last part of a position.
  using Parts = std::pair<uint32_t, uint32_t>;

  Parts PartsAt(size_t position, unsigned edges) const noexcept {
    if (position >= num_positions_) return {0, last_part_};  // only with symbols
    const uint8_t* const known = positions_ + position * kPositionBytes;
    // Most keys soon leave the edges. Then this does not depend on the byte before.
    if (edges == 0) return {known[0], known[1]};
    return {known[edges == kLowEdge ? 2 : 0], known[edges == kHighEdge ? 3 : 1]};
  }

  /// Encodes the byte at a position. False if the bytes after it do not change the code.
  bool AddByte(uint8_t byte, size_t position, State* state) const noexcept {
    const Share share = IsSymbol(position) ? FindShare(byte) : Share{byte, 1};
    return AddShare(share, PartsAt(position, state->edges), state);
  }

  static bool AddShare(Share share, Parts parts, State* state) noexcept {
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

  Share FindShare(uint8_t byte) const noexcept {
    const uint64_t word = in_use_[byte / 64];
    const uint64_t bit = uint64_t{1} << (byte % 64);
    const size_t rank = ranks_[byte / 64] + static_cast<size_t>(std::popcount(word & (bit - 1)));
    const uint32_t begin = begins_[rank];
    return {begin, (word & bit) == 0 ? 0 : begins_[rank + 1] - begin};
  }

  // Common prefix of all keys.
  const uint8_t* prefix_ = nullptr;
  size_t prefix_bytes_ = 0;

  // For each position after the prefix: the lowest and the highest part, the lowest at the low
  // edge, and the highest at the high edge.
  const uint8_t* positions_ = nullptr;
  size_t num_positions_ = 0;

  // At positions where some byte values never occur, the others are symbols, with parts in
  // proportion to their frequency. At other positions each byte value is one part.
  const uint8_t* is_symbol_ = nullptr;  // a bit for each position
  const uint8_t* begins_ = nullptr;     // first part of each symbol, and the end of the last
  size_t num_symbols_ = 0;
  uint32_t last_part_ = 0;
  std::array<uint64_t, 4> in_use_ = {};
  std::array<uint8_t, 4> ranks_ = {};  // number of symbols below each word
};

/// Appends the model of these keys. REQUIRES: !keys.empty()
CodeSizes AppendKeyCode(const SortedKeys& keys, std::string* out);

}  // namespace blocksieve::internal
