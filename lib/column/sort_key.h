#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "blocksieve/column.h"

namespace blocksieve::internal {

/// Order-preserving code of a number; NaN has the largest. REQUIRES: a number, not bytes
inline uint64_t OrderedBits(const Value& number) noexcept {
  assert(number.type() != ValueType::kBytes);
  constexpr uint64_t kSign = uint64_t{1} << 63;
  switch (number.type()) {
    case ValueType::kInt:
      return static_cast<uint64_t>(number.as_int()) ^ kSign;
    case ValueType::kFloat: {
      // Values are canonical: no -0.0, and one NaN, whose bits are above those of infinity.
      const uint64_t bits = std::bit_cast<uint64_t>(number.as_float());
      return (bits & kSign) != 0 ? ~bits : bits | kSign;
    }
    default:
      return number.as_uint();
  }
}

/// Bytes that compare like the OrderedBits.
inline std::string SortKey(uint64_t ordered_bits) {
  std::string key;
  for (int shift = 56; shift >= 0; shift -= 8) key += static_cast<char>(ordered_bits >> shift);
  return key;
}

/// Bytes that compare like the values, within one type.
inline std::string SortKey(const Value& value) {
  if (value.type() == ValueType::kBytes) return std::string(value.bytes());
  return SortKey(OrderedBits(value));
}

/// The first eight bytes of a SortKey as a number: values that ascend have none that descend.
inline uint64_t SortHead(std::string_view key) noexcept {
  uint64_t head = 0;
  for (size_t i = 0; i < 8; ++i)
    head = head << 8 | (i < key.size() ? static_cast<uint8_t>(key[i]) : 0U);
  return head;
}

/// The smallest text above all texts with `prefix`; nullopt if there is none.
inline std::optional<std::string> PrefixSuccessor(std::string_view prefix) {
  while (prefix.ends_with('\xff')) prefix.remove_suffix(1);
  if (prefix.empty()) return std::nullopt;
  std::string next(prefix);
  next.back() = static_cast<char>(static_cast<uint8_t>(next.back()) + 1);
  return next;
}

}  // namespace blocksieve::internal
