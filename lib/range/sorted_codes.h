#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "lib/range/order_preserving_code.h"

namespace blocksieve::internal {

/// The codes of keys that come in ascending order and begin with the model's prefix: what is known
/// of the bytes that a key shares with the one before it need not be found again, and the model is
/// laid out for many keys.
class SortedCodes {
 public:
  explicit SortedCodes(const OrderPreservingCode& code);

  /// OrderPreservingCode::Code(key, 0). `shared`: how many bytes the key has in common with the one
  /// before it.
  uint64_t Next(std::string_view key, size_t shared) noexcept {
    if (shared >= looked_at_ && looked_at_ != 0) return latest_;
    const size_t prefix = code_.prefix_bytes_;
    size_t position = std::min(shared > prefix ? shared - prefix : 0, known_);
    OrderPreservingCode::State state = states_[position];
    bool goes_on = true;
    for (; goes_on && prefix + position < key.size(); ++position) {
      goes_on = Go(static_cast<uint8_t>(key[prefix + position]), position, &state);
      if (goes_on && position < kMaxKnown) states_[position + 1] = state;
    }
    known_ = std::min(goes_on ? position : position - 1, kMaxKnown);
    looked_at_ = goes_on ? 0 : prefix + position;
    return latest_ = state.code;
  }

 private:
  /// Bytes behind which the state is kept.
  static constexpr size_t kMaxKnown = 128;

  bool Go(uint8_t byte, size_t position, OrderPreservingCode::State* state) const noexcept {
    const Position& at = positions_[std::min(position, code_.num_positions_)];
    return OrderPreservingCode::Take(at.shares[byte], at.parts[state->edges], state);
  }

  struct Position {
    const OrderPreservingCode::Share* shares;  // of each byte
    std::array<OrderPreservingCode::Parts, OrderPreservingCode::kBothEdges + 1> parts;
  };

  const OrderPreservingCode& code_;
  std::array<OrderPreservingCode::Share, 256> symbols_;
  std::array<OrderPreservingCode::Share, 256> bytes_;
  std::array<Position, OrderPreservingCode::kMaxPositions + 1> positions_;
  std::array<OrderPreservingCode::State, kMaxKnown + 1>
      states_;            // of the latest key, behind each byte
  size_t known_ = 0;      // of these
  size_t looked_at_ = 0;  // bytes that determined the latest code; 0: all
  uint64_t latest_ = 0;
};

}  // namespace blocksieve::internal
