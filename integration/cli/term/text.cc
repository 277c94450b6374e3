#include "integration/cli/term/text.h"

#include <algorithm>
#include <cassert>

namespace blocksieve::term {
namespace {

// The length in bytes of the character that `lead` begins, and the range of its second byte; length
// 0 if no character begins so.
struct Lead {
  size_t num_bytes;
  uint8_t low;
  uint8_t high;
};

Lead DescribeLead(uint8_t lead) {
  if (lead < 0x80) return {1, 0, 0};
  if (lead < 0xc2) return {0, 0, 0};
  if (lead < 0xe0) return {2, 0x80, 0xbf};
  if (lead == 0xe0) return {3, 0xa0, 0xbf};
  if (lead == 0xed) return {3, 0x80, 0x9f};
  if (lead < 0xf0) return {3, 0x80, 0xbf};
  if (lead == 0xf0) return {4, 0x90, 0xbf};
  if (lead < 0xf4) return {4, 0x80, 0xbf};
  if (lead == 0xf4) return {4, 0x80, 0x8f};
  return {0, 0, 0};
}

bool ContinuesCharacter(char c) { return (c & 0xc0) == 0x80; }

// Moves back to the begin of a character of UTF-8.
size_t BeginOfCharacter(std::string_view text, size_t i) {
  while (i > 0 && i < text.size() && ContinuesCharacter(text[i])) --i;
  return i;
}

}  // namespace

std::string WithCommas(uint64_t number) {
  std::string text = std::to_string(number);
  for (size_t end = text.size(); end > 3; end -= 3) text.insert(end - 3, ",");
  return text;
}

std::string CountOf(uint64_t number, std::string_view what) {
  return WithCommas(number) + " " + std::string(what) + (number == 1 ? "" : "s");
}

bool IsUtf8(std::string_view bytes) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(bytes[i]); };
  for (size_t i = 0; i < bytes.size();) {
    const Lead lead = DescribeLead(byte(i));
    if (lead.num_bytes == 0 || lead.num_bytes > bytes.size() - i) return false;
    if (lead.num_bytes > 1 && (byte(i + 1) < lead.low || byte(i + 1) > lead.high)) return false;
    for (size_t j = 2; j < lead.num_bytes; ++j) {
      if (!ContinuesCharacter(bytes[i + j])) return false;
    }
    i += lead.num_bytes;
  }
  return true;
}

std::string ToHex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const char c : bytes) {
    text += kDigits[static_cast<uint8_t>(c) >> 4];
    text += kDigits[static_cast<uint8_t>(c) & 15];
  }
  return text;
}

std::string PointAt(std::string_view text, size_t position) {
  assert(position >= 1);
  // Both lines must fit into a terminal.
  constexpr size_t kMostBefore = 50;
  constexpr size_t kMostShown = 70;
  const size_t at = std::min(position - 1, text.size());
  const size_t begin = at > kMostBefore ? BeginOfCharacter(text, at - kMostBefore) : 0;
  const size_t end = BeginOfCharacter(text, std::min(begin + kMostShown, text.size()));
  std::string shown = begin > 0 ? "  ..." : "  ";
  size_t caret = shown.size();
  for (size_t i = begin; i < end; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    shown += byte < ' ' || byte == 0x7f ? ' ' : text[i];
    caret += i < at && !ContinuesCharacter(text[i]);
  }
  if (end < text.size()) shown += "...";
  return shown + "\n" + std::string(caret, ' ') + "^";
}

}  // namespace blocksieve::term
