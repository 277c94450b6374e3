#pragma once

#include <cstdint>
#include <string_view>

#include "lib/column/characters.h"

// The tokens of a text, as indexes and predicates both see them.

namespace blocksieve::internal {

/// Part of a word: ASCII letters, digits, and all bytes >= 0x80, so that words of other scripts
/// stay whole without tables. Case is kept, as in ClickHouse.
inline bool IsWordByte(char c) noexcept {
  const uint8_t byte = static_cast<uint8_t>(c);
  const uint8_t lower = static_cast<uint8_t>(byte | 0x20);
  return byte >= 0x80 || (byte >= '0' && byte <= '9') || (lower >= 'a' && lower <= 'z');
}

/// Calls `visit(word)` for each word, until it returns false. Returns whether it never did.
template <class Visit>
bool ForEachWord(std::string_view text, Visit&& visit) {
  size_t end = 0;
  while (true) {
    size_t begin = end;
    while (begin < text.size() && !IsWordByte(text[begin])) ++begin;
    if (begin == text.size()) return true;
    end = begin;
    while (end < text.size() && IsWordByte(text[end])) ++end;
    if (!visit(text.substr(begin, end - begin))) return false;
  }
}

/// The same for every `n` characters in a row. REQUIRES: n > 0.
template <class Visit>
bool ForEachNgram(std::string_view text, uint32_t n, Visit&& visit) {
  size_t begin = 0;
  size_t end = 0;
  for (uint32_t i = 0; i < n; ++i) {
    if (end == text.size()) return true;
    end += CharacterBytes(text, end);
  }
  while (true) {
    if (!visit(text.substr(begin, end - begin))) return false;
    if (end == text.size()) return true;
    begin += CharacterBytes(text, begin);
    end += CharacterBytes(text, end);
  }
}

}  // namespace blocksieve::internal
