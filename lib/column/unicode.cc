// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <iterator>

#include "lib/column/tokens.h"

namespace blocksieve::internal {

// The code points from `first` to `last`, in steps of 1 or 2, are folded by the same distance.
struct FoldedRun {
  uint32_t first, last, step;
  int32_t distance;
};

#include "lib/column/unicode_tables.inc"

namespace {

// Code point of a character that CharacterBytes has cut. 0, which no table has, for invalid UTF-8:
// an overlong form is not the character that it spells.
uint32_t CodePoint(std::string_view character) noexcept {
  constexpr uint32_t kLowest[] = {0, 0, 0x80, 0x800, 0x10000};  // by size
  const size_t size = character.size();
  if (size < 2 || size != ExpectedBytes(character[0])) return 0;
  uint32_t code = static_cast<uint8_t>(character[0]) & (0x7fu >> size);
  for (const char c : character.substr(1)) code = code << 6 | (static_cast<uint8_t>(c) & 0x3f);
  return code < kLowest[size] ? 0 : code;
}

uint32_t FoldedCodePoint(uint32_t code) noexcept {
  const auto* const run = std::ranges::lower_bound(kFoldedRuns, code, {}, &FoldedRun::last);
  if (run == std::end(kFoldedRuns) || code < run->first) return code;
  return (code - run->first) % run->step == 0 ? code + static_cast<uint32_t>(run->distance) : code;
}

char* WriteUtf8(uint32_t code, char* out) noexcept {
  const int size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  for (int i = size - 1; i > 0; --i, code >>= 6) out[i] = static_cast<char>(0x80 | (code & 0x3f));
  out[0] = static_cast<char>(size == 1 ? code : 0xf0u << (4 - size) | code);
  return out + size;
}

}  // namespace

size_t LongSeparatorBytes(std::string_view text) noexcept {
  const size_t size = CharacterBytes(text, 0);
  const uint32_t code = CodePoint(text.substr(0, size));
  if (code / 64 >= std::size(kSeparatorPages)) return 0;
  return (kSeparatorMasks[kSeparatorPages[code / 64]] >> code % 64 & 1) != 0 ? size : 0;
}

void Fold(std::string_view text, std::string* folded) {
  folded->resize(text.size() + text.size() / 2);  // some letters of two bytes become three
  char* out = folded->data();
  for (size_t i = 0; i < text.size();) {
    if (static_cast<uint8_t>(text[i]) < 0x80) {
      const char c = text[i++];
      *out++ = static_cast<char>(c + (c >= 'A' && c <= 'Z' ? 0x20 : 0));
      continue;
    }
    const std::string_view character = text.substr(i, CharacterBytes(text, i));
    const uint32_t code = CodePoint(character);
    const uint32_t to = FoldedCodePoint(code);
    out = to == code ? std::copy(character.begin(), character.end(), out) : WriteUtf8(to, out);
    i += character.size();
  }
  folded->resize(static_cast<size_t>(out - folded->data()));
}

}  // namespace blocksieve::internal
