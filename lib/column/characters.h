#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

// Characters of any bytes (see Column): UTF-8 code points where the text is valid. They are
// self-synchronising: a byte that is no continuation byte always begins one, so that a text and a
// piece of it agree on the characters inside the piece.

namespace blocksieve::internal {

inline bool IsContinuation(char c) noexcept { return (static_cast<uint8_t>(c) & 0xc0) == 0x80; }

/// Bytes that a character beginning with `lead` asks for.
inline size_t BytesWanted(char lead) noexcept {
  const uint8_t byte = static_cast<uint8_t>(lead);
  if (byte < 0xc0 || byte >= 0xf8) return 1;
  return byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

/// Bytes of the character at `position`. REQUIRES: position < text.size(), and a character begins
/// there.
inline size_t CharacterBytes(std::string_view text, size_t position) noexcept {
  const size_t wanted = BytesWanted(text[position]);
  size_t size = 1;
  while (size < wanted && position + size < text.size() && IsContinuation(text[position + size])) {
    ++size;
  }
  return size;
}

/// Whether a character begins at `position`. REQUIRES: position < text.size().
inline bool BeginsCharacter(std::string_view text, size_t position) noexcept {
  if (!IsContinuation(text[position])) return true;
  for (size_t back = 1; back <= 3 && back <= position; ++back) {
    const char before = text[position - back];
    if (!IsContinuation(before)) return BytesWanted(before) <= back;
  }
  return true;
}

}  // namespace blocksieve::internal
