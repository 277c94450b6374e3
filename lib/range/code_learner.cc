// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/range/order_preserving_code.h"
#include "lib/range/sorted_codes.h"

namespace blocksieve::internal {
namespace {

constexpr size_t kMaxPrefixBytes = 255;

// The model covers this many positions after the deepest one at which neighbouring keys differ.
constexpr size_t kPastDeepest = 4;

// Number of bytes of a key, from the first that differs from its neighbour, whose frequencies
// count.
constexpr size_t kCountedBytes = 4;

// With more symbols, parts would be too coarse to distinguish frequent symbols from rare ones.
constexpr size_t kMaxSymbols = 128;
constexpr uint64_t kAllParts = 255;

// Maximum share of the codes at a position that no key has because the position is given up.
constexpr double kMaxGap = 1.0 / 32;

// Number of keys that the model is learnt from. Bytes that occur only in other keys make their
// codes less precise, but not wrong.
constexpr size_t kSampledKeys = 2048;

}  // namespace

class CodeLearner {
  static constexpr size_t kMaxPositions = OrderPreservingCode::kMaxPositions;

 public:
  explicit CodeLearner(const SortedKeys& keys) : keys_(keys) {
    prefix_bytes_ = std::min(SharedBytes(keys[0], keys.back()), kMaxPrefixBytes);
    const size_t deepest = keys.deepest() - std::min(keys.deepest(), prefix_bytes_);
    max_positions_ = std::min(kMaxPositions, deepest + kPastDeepest);
    lowest_.fill(UINT8_MAX);
    const size_t step = (keys.size() + kSampledKeys - 1) / kSampledKeys;
    for (size_t i = 0; i < keys.size(); i += step) sample_.push_back(i);
    if (sample_.back() != keys.size() - 1) sample_.push_back(keys.size() - 1);
    for (size_t i = 0; i < sample_.size(); ++i) {
      const std::string_view key = keys[sample_[i]];
      Count(key, i == 0 ? 0 : step == 1 ? keys.shared(i) : SharedBytes(keys[sample_[i - 1]], key));
    }
    GiveParts();
    for (size_t i = 0; i < num_positions_; ++i) LearnRange(i);
    if (std::count(is_symbol_.begin(), is_symbol_.end(), true) == 0) num_symbols_ = 0;
    if (num_symbols_ == 0) GiveUpPositions();
    LearnEdges();
  }

  CodeSizes Append(std::string* out) const {
    out->append(keys_[0].substr(0, prefix_bytes_));
    for (size_t i = 0; i < num_positions_; ++i) {
      for (const uint8_t part : known_[i]) out->push_back(static_cast<char>(part));
    }
    if (num_symbols_ != 0) {
      AppendBits(is_symbol_, num_positions_, out);
      AppendSymbols(out);
      for (size_t byte = 0; byte < 256; ++byte) {
        if (seen_[byte]) out->push_back(static_cast<char>(begins_[byte]));
      }
      out->push_back(static_cast<char>(begins_[256]));
    }
    return {static_cast<uint8_t>(num_symbols_), static_cast<uint8_t>(prefix_bytes_),
            static_cast<uint8_t>(num_positions_)};
  }

 private:
  /// Counts the bytes of a key after the `shared` bytes that it shares with the key before it.
  void Count(std::string_view key, size_t shared) noexcept {
    size_t position = shared - std::min(shared, prefix_bytes_);
    key.remove_prefix(prefix_bytes_);
    num_positions_ = std::max(num_positions_, std::min(key.size(), max_positions_));
    for (size_t i = position; i < std::min(key.size(), max_positions_); ++i) {
      lowest_[i] = std::min(lowest_[i], static_cast<uint8_t>(key[i]));
      highest_[i] = std::max(highest_[i], static_cast<uint8_t>(key[i]));
    }
    const size_t end = std::min(key.size(), kMaxPositions);
    for (; position < end && num_symbols_ <= kMaxSymbols; ++position) {
      bool& is_seen = seen_[static_cast<uint8_t>(key[position])];
      num_symbols_ += is_seen ? 0 : 1;
      is_seen = true;
    }
  }

  /// Assigns one part to each symbol, and the remaining parts by frequency.
  void GiveParts() noexcept {
    if (num_symbols_ > kMaxSymbols) num_symbols_ = 0;
    std::array<uint64_t, 256> counts{};
    uint64_t total = 1;
    for (const size_t i : sample_) {
      if (num_symbols_ == 0) break;
      const size_t from = std::max(keys_.shared(i), prefix_bytes_);
      const size_t end =
          std::min({keys_[i].size(), from + kCountedBytes, prefix_bytes_ + num_positions_});
      for (size_t j = from; j < end; ++j) {
        if (lowest_[j - prefix_bytes_] == highest_[j - prefix_bytes_]) continue;
        ++counts[static_cast<uint8_t>(keys_[i][j])];
        ++total;
      }
    }
    uint64_t sum = 0;
    for (size_t byte = 0; byte < 256; ++byte) {
      begins_[byte] = static_cast<uint8_t>(num_symbols_ == 0 ? byte : sum);
      if (seen_[byte] && num_symbols_ != 0) {
        sum += 1 + counts[byte] * (kAllParts - num_symbols_) / total;
      }
    }
    begins_[256] = static_cast<uint8_t>(num_symbols_ == 0 ? 255 : sum);
  }

  /// Learns the parts of a position. They are symbols' parts only if some byte value between its
  /// lowest and its highest occurs nowhere.
  void LearnRange(size_t position) noexcept {
    const uint8_t lowest = lowest_[position];
    const uint8_t highest = highest_[position];
    const auto first = seen_.begin() + lowest;
    is_symbol_[position] = num_symbols_ != 0 && std::find(first, first + (highest - lowest),
                                                          false) != first + (highest - lowest);
    known_[position] = {FirstPart(position, lowest), LastPart(position, highest)};
    known_[position][2] = known_[position][0];
    known_[position][3] = known_[position][1];
  }

  uint8_t FirstPart(size_t position, uint8_t byte) const noexcept {
    return is_symbol_[position] ? begins_[byte] : byte;
  }
  uint8_t LastPart(size_t position, uint8_t byte) const noexcept {
    return is_symbol_[position] ? static_cast<uint8_t>(begins_[byte + size_t{1}] - 1) : byte;
  }

  /// Learns the parts at the edges. Numbers in a window, such as times, have few byte values after
  /// the first digits of the window's ends, and all values after other digits. Position by
  /// position, because a key is at an edge depending on its bytes before.
  void LearnEdges() {
    std::vector<std::pair<std::string_view, unsigned>> sample;  // and the edges that keys are at
    for (const size_t i : sample_) {
      sample.emplace_back(keys_[i].substr(prefix_bytes_), OrderPreservingCode::kBothEdges);
    }
    for (size_t i = 0; i < num_positions_; ++i) {
      auto& known = known_[i];
      const bool is_fixed = known[0] == known[1];
      std::array<uint8_t, 2> edge = {known[1], known[0]};  // opposite ends
      bool at_low = false;
      bool at_high = false;
      for (const auto& [key, edges] : sample) {
        if (is_fixed || i >= key.size()) continue;
        const auto byte = static_cast<uint8_t>(key[i]);
        if (edges == OrderPreservingCode::kLowEdge) {
          edge[0] = std::min(edge[0], FirstPart(i, byte));
          at_low = true;
        } else if (edges == OrderPreservingCode::kHighEdge) {
          edge[1] = std::max(edge[1], LastPart(i, byte));
          at_high = true;
        }
      }
      if (at_low) known[2] = edge[0];
      if (at_high) known[3] = edge[1];
      for (auto& [key, edges] : sample) {
        if (i >= key.size()) continue;
        const auto byte = static_cast<uint8_t>(key[i]);
        const uint8_t first = known[edges == OrderPreservingCode::kLowEdge ? 2 : 0];
        const uint8_t last = known[edges == OrderPreservingCode::kHighEdge ? 3 : 1];
        if (first == last) {
          edges = OrderPreservingCode::kBothEdges;
        } else {
          edges &= (FirstPart(i, byte) == first ? OrderPreservingCode::kLowEdge : 0) |
                   (LastPart(i, byte) == last ? OrderPreservingCode::kHighEdge : 0);
        }
      }
    }
  }

  /// Gives up the last positions that have nearly all byte values, except after ones with few: a
  /// window of numbers over a carry has few codes at its edges. Their bytes are one digit.
  void GiveUpPositions() noexcept {
    size_t needed = 0;
    double at_edges = 0;  // share of the codes, of which edges may leave out nearly all
    for (size_t i = 0; i < num_positions_; ++i) {
      const double values = highest_[i] - lowest_[i] + 1;
      if (1 - values / 256 + at_edges > kMaxGap) needed = i + 1;
      at_edges = values == 1 ? 0 : (at_edges == 0 ? 2 : at_edges) / values;
    }
    num_positions_ = needed;
  }

  /// Appends a bit for each byte value, without words that are zero.
  void AppendSymbols(std::string* out) const {
    std::array<uint64_t, 4> in_use{};
    for (size_t byte = 0; byte < 256; ++byte) {
      in_use[byte / 64] |= uint64_t{seen_[byte]} << (byte % 64);
    }
    unsigned words = 0;
    for (size_t i = 0; i < in_use.size(); ++i) words |= (in_use[i] != 0 ? 1u : 0u) << i;
    out->push_back(static_cast<char>(words));
    for (const uint64_t word : in_use) {
      if (word != 0) AppendLittleEndian(out, word);
    }
  }

  template <size_t kSize>
  static void AppendBits(const std::array<bool, kSize>& bits, size_t count, std::string* out) {
    for (size_t i = 0; i < count; i += 8) {
      unsigned byte = 0;
      for (size_t j = i; j < std::min(i + 8, count); ++j) byte |= unsigned{bits[j]} << (j - i);
      out->push_back(static_cast<char>(byte));
    }
  }

  const SortedKeys& keys_;
  std::vector<size_t> sample_;
  size_t prefix_bytes_ = 0;
  size_t num_positions_ = 0;
  size_t max_positions_ = 0;
  size_t num_symbols_ = 0;
  std::array<bool, 256> seen_ = {};
  std::array<uint8_t, 257> begins_ = {};
  std::array<uint8_t, kMaxPositions> lowest_ = {};
  std::array<uint8_t, kMaxPositions> highest_ = {};
  std::array<bool, kMaxPositions> is_symbol_ = {};
  std::array<std::array<uint8_t, OrderPreservingCode::kPositionBytes>, kMaxPositions> known_ = {};
};

CodeSizes AppendKeyCode(const SortedKeys& keys, std::string* out) {
  return CodeLearner(keys).Append(out);
}

OrderPreservingCode::OrderPreservingCode(const CodeSizes& sizes, Decoder* from) noexcept
    : prefix_bytes_(sizes.prefix_bytes),
      num_positions_(sizes.positions),
      num_symbols_(sizes.symbols) {
  prefix_ = from->Bytes(prefix_bytes_).data();
  positions_ = from->Bytes(num_positions_ * kPositionBytes).data();
  if (num_symbols_ == 0) return;
  is_symbol_ = from->Bytes((num_positions_ + 7) / 8).data();
  const auto words = from->Fixed<uint8_t>();
  for (size_t i = 0; i < in_use_.size(); ++i) {
    if ((words >> i & 1) != 0) in_use_[i] = from->Fixed<uint64_t>();
  }
  const ByteView begins = from->Bytes(num_symbols_ + 1);
  if (!from->ok()) return;
  size_t symbols = 0;
  for (size_t i = 0; i < in_use_.size(); ++i) {
    ranks_[i] = static_cast<uint8_t>(symbols);
    symbols += static_cast<size_t>(std::popcount(in_use_[i]));
  }
  if (symbols != num_symbols_ || begins.back() == 0) from->Bytes(UINT64_MAX);  // damaged
  begins_ = begins.data();
  last_part_ = begins.back() - 1u;
}

SortedCodes::SortedCodes(const OrderPreservingCode& code) : code_(code), is_word_(code.IsWord(0)) {
  for (size_t byte = 0; byte < 256; ++byte) {
    bytes_[byte] = {static_cast<uint32_t>(byte), 1};
    if (code.num_symbols_ != 0) symbols_[byte] = code.FindShare(static_cast<uint8_t>(byte));
  }
  for (size_t i = 0; i <= code.num_positions_; ++i) {
    positions_[i].shares = (code.IsSymbol(i) ? symbols_ : bytes_).data();
    for (unsigned edges = 0; edges <= OrderPreservingCode::kBothEdges; ++edges) {
      positions_[i].parts[edges] = code.PartsAt(i, edges);
    }
  }
  states_[0] = {};
}

}  // namespace blocksieve::internal
