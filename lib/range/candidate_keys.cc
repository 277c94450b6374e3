#include "lib/range/candidate_keys.h"

#include <algorithm>

namespace blocksieve::internal {

KeyForm FormOf(const SortedKeys& keys) noexcept {
  KeyForm form;
  const size_t length = keys[0].size();
  if (length < KeyForm::kTailBytes || length > UINT16_MAX) return form;
  form.lowest.fill(UINT8_MAX);
  for (size_t i = 0; i < keys.size(); ++i) {
    const std::string_view key = keys[i];
    if (key.size() != length) return {};
    for (size_t j = 0; j < KeyForm::kTailBytes; ++j) {
      const auto byte = static_cast<uint8_t>(key[length - KeyForm::kTailBytes + j]);
      form.lowest[j] = std::min(form.lowest[j], byte);
      form.highest[j] = std::max(form.highest[j], byte);
    }
  }
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
