#include "integration/cli/term/text.h"

#include <algorithm>
#include <cassert>

namespace blocksieve::term {
namespace {

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
