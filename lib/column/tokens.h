#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

// Characters and tokens of a text, for indexes and predicates alike.
//
// Characters are UTF-8 code points; Column specifies them for invalid text. They are
// self-synchronising: every byte that is not a continuation byte begins one, so a text and its
// substrings agree on the characters inside the substring.

namespace blocksieve::internal {

// Separators of words and letters without case, by Unicode 14.0, which is part of the byte format.

/// By the first byte, the size of a separator of words: 0 for none, as before a letter, 1 in ASCII,
/// and 2 if LongSeparatorBytes has to say, which few scripts need.
extern const uint8_t kSeparatorBytes[256];

/// Size of the separator beyond ASCII at the beginning of `text`; 0 if there is none, as for
/// invalid UTF-8. REQUIRES: not empty
size_t LongSeparatorBytes(std::string_view text) noexcept;

/// Replaces `folded` by the text without differences of case, by simple case folding: each
/// character becomes one, which is itself if folded again. Invalid UTF-8 remains unchanged.
void Fold(std::string_view text, std::string* folded);

inline bool IsContinuation(char c) noexcept { return (static_cast<uint8_t>(c) & 0xc0) == 0x80; }

/// Length of a character in bytes, as announced by its lead byte.
inline size_t ExpectedBytes(char lead) noexcept {
  const uint8_t byte = static_cast<uint8_t>(lead);
  if (byte < 0xc0 || byte >= 0xf8) return 1;
  return byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

/// Bytes of the character at `position`. REQUIRES: position < text.size(), and a character begins
/// there.
inline size_t CharacterBytes(std::string_view text, size_t position) noexcept {
  assert(position < text.size());
  const size_t expected = ExpectedBytes(text[position]);
  size_t size = 1;
  while (size < expected && position + size < text.size() &&
         IsContinuation(text[position + size])) {
    ++size;
  }
  return size;
}

/// Whether a character begins at `position`. REQUIRES: position < text.size().
inline bool BeginsCharacter(std::string_view text, size_t position) noexcept {
  assert(position < text.size());
  if (!IsContinuation(text[position])) return true;
  for (size_t back = 1; back <= 3 && back <= position; ++back) {
    const char before = text[position - back];
    if (!IsContinuation(before)) return ExpectedBytes(before) <= back;
  }
  return true;
}

/// Size of the separator at `position`; 0 if the byte there is part of a word, which Column
/// specifies. REQUIRES: position < text.size(), not inside of a separator
inline size_t SeparatorBytes(std::string_view text, size_t position) noexcept {
  const size_t size = kSeparatorBytes[static_cast<uint8_t>(text[position])];
  return size < 2 ? size : LongSeparatorBytes(text.substr(position));
}

/// Calls `visit(word)` for each word until it returns false. Returns false in that case.
template <class Visit>
bool ForEachWord(std::string_view text, Visit&& visit) {
  size_t end = 0;
  while (end < text.size()) {
    const size_t begin = end;
    if (const size_t separator = SeparatorBytes(text, begin); separator != 0) {
      end += separator;
      continue;
    }
    do ++end;
    while (end < text.size() && SeparatorBytes(text, end) == 0);
    if (!visit(text.substr(begin, end - begin))) return false;
  }
  return true;
}

/// The same for all substrings of `n` characters. REQUIRES: n > 0.
template <class Visit>
bool ForEachNgram(std::string_view text, uint32_t n, Visit&& visit) {
  assert(n > 0);
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
