// SPDX-License-Identifier: Apache-2.0
#include "lib/range/candidate_keys.h"

#include <algorithm>
#include <cstring>

namespace blocksieve::internal {

KeyForm FindKeyForm(const SortedKeys& keys) noexcept {
  KeyForm form;
  const size_t length = keys[0].size();
  if (length < KeyForm::kTailBytes || length > UINT16_MAX) return form;
  using Bytes = uint8_t __attribute__((vector_size(16)));  // its minimum is one instruction
  using Words = uint32_t __attribute__((vector_size(16)));
  Bytes highest = {};
  Bytes lowest = ~highest;
  for (const SortedKeys::Entry& key : keys) {
    if (key.size != length) return {};
    uint32_t word = 0;
    std::memcpy(&word, key.bytes + length - KeyForm::kTailBytes, KeyForm::kTailBytes);
    const auto tail = reinterpret_cast<Bytes>(Words{word});
    lowest = tail < lowest ? tail : lowest;
    highest = tail > highest ? tail : highest;
  }
  std::memcpy(form.lowest.data(), &lowest, KeyForm::kTailBytes);
  std::memcpy(form.highest.data(), &highest, KeyForm::kTailBytes);
  form.key_bytes = static_cast<uint16_t>(length);
  return form;
}

uint64_t KeyForm::TailsBelow(std::string_view tail) const noexcept {
  uint64_t below = 0;
  bool is_possible = true;  // whether a tail may begin with the bytes so far
  for (size_t i = 0; i < kTailBytes; ++i) {
    uint32_t digit = 0;
    is_possible = is_possible && i < tail.size();
    if (is_possible) {
      const auto byte = static_cast<uint8_t>(tail[i]);
      is_possible = byte >= lowest[i] && byte <= highest[i];
      digit = byte > highest[i] ? NumValues(i) : byte - std::min(byte, lowest[i]);
    }
    below = below * NumValues(i) + digit;
  }
  return below + (is_possible && tail.size() > kTailBytes ? 1 : 0);
}

void KeyForm::SetTail(uint64_t number, char* tail) const noexcept {
  for (size_t i = kTailBytes; i-- > 0; number /= NumValues(i)) {
    tail[i] = static_cast<char>(lowest[i] + number % NumValues(i));
  }
}

}  // namespace blocksieve::internal
