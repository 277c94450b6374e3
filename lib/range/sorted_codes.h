#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "lib/range/order_preserving_code.h"

namespace blocksieve::internal {

/// Computes the codes of ascending keys that start with the model's prefix. Faster than Code(): it
/// resumes after the bytes that a key shares with the key before it, from a model in tables.
class SortedCodes {
 public:
  explicit SortedCodes(const OrderPreservingCode& code);

  /// OrderPreservingCode::Code(key, 0) of the next key, which shares `shared` bytes with the key
  /// before it.
  uint64_t Next(std::string_view key, size_t shared) noexcept {
    const size_t prefix = code_.prefix_bytes_;
    if (is_word_ && key.size() >= prefix + sizeof(uint64_t)) {
      return OrderPreservingCode::AddWord(key.substr(prefix), {});
    }
    if (shared >= used_bytes_ && used_bytes_ != 0) return latest_;
    size_t position = std::min(shared > prefix ? shared - prefix : 0, num_states_);
    OrderPreservingCode::State state = states_[position];
    bool is_open = true;
    for (; is_open && prefix + position < key.size(); ++position) {
      if (code_.IsWord(position)) {
        num_states_ = position;
        used_bytes_ = prefix + position + sizeof(uint64_t);
        return latest_ = OrderPreservingCode::AddWord(key.substr(prefix + position), state);
      }
      is_open = AddByte(static_cast<uint8_t>(key[prefix + position]), position, &state);
      if (is_open && position < kMaxStates) states_[position + 1] = state;
    }
    num_states_ = std::min(is_open ? position : position - 1, kMaxStates);
    used_bytes_ = is_open ? 0 : prefix + position;
    return latest_ = state.code;
  }

 private:
  /// Maximum number of bytes after each of which the state is kept.
  static constexpr size_t kMaxStates = 128;

  bool AddByte(uint8_t byte, size_t position, OrderPreservingCode::State* state) const noexcept {
    const Position& at = positions_[std::min(position, code_.num_positions_)];
    return OrderPreservingCode::AddShare(at.shares[byte], at.parts[state->edges], state);
  }

  struct Position {
    const OrderPreservingCode::Share* shares;  // of each byte
    std::array<OrderPreservingCode::Parts, OrderPreservingCode::kBothEdges + 1> parts;
  };

  const OrderPreservingCode& code_;
  const bool is_word_;  // whether codes are the first eight bytes
  std::array<OrderPreservingCode::Share, 256> symbols_;
  std::array<OrderPreservingCode::Share, 256> bytes_;
  std::array<Position, OrderPreservingCode::kMaxPositions + 1> positions_;
  std::array<OrderPreservingCode::State, kMaxStates + 1>
      states_;             // after each byte of the latest key
  size_t num_states_ = 0;  // number of valid states_, not counting the first
  size_t used_bytes_ = 0;  // bytes that determined the latest code; 0: all
  uint64_t latest_ = 0;
};

}  // namespace blocksieve::internal
