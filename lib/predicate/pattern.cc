// SPDX-License-Identifier: Apache-2.0
#include "lib/predicate/pattern.h"

#include <algorithm>
#include <cassert>

#include "lib/column/definition.h"
#include "lib/column/tokens.h"

namespace blocksieve::internal {
namespace {

// The part of `literal` that has the same characters in every surrounding text, which could
// complete its first and its last character.
std::string_view WholeCharacters(std::string_view literal, bool is_open_left, bool is_open_right) {
  while (is_open_left && !literal.empty() && IsContinuation(literal.front())) {
    literal.remove_prefix(1);
  }
  if (!is_open_right || literal.empty()) return literal;
  size_t last = literal.size() - 1;
  while (last > 0 && !BeginsCharacter(literal, last)) --last;
  if (literal.size() - last < ExpectedBytes(literal[last])) literal = literal.substr(0, last);
  return literal;
}

}  // namespace

Pattern::Pattern(std::string_view literal, bool any_before, bool any_after) {
  if (any_before) segments_.emplace_back();
  segments_.emplace_back();
  if (!literal.empty()) segments_.back().emplace_back(literal);
  if (any_after) segments_.emplace_back();
}

std::optional<Pattern> Pattern::Like(std::string_view pattern) {
  Pattern result;
  for (size_t i = 0; i < pattern.size(); ++i) {
    char c = pattern[i];
    if (c == '%') {
      result.segments_.emplace_back();
    } else if (c == '_') {
      result.segments_.back().emplace_back(std::nullopt);
    } else {
      if (c == '\\') {
        if (i + 1 == pattern.size()) return std::nullopt;
        const char next = pattern[i + 1];
        if (next == '%' || next == '_' || next == '\\') c = pattern[++i];
      }
      AppendLiteral(c, &result.segments_.back());
    }
  }
  return result;
}

void Pattern::AppendLiteral(char c, Segment* segment) {
  if (segment->empty() || !segment->back()) segment->emplace_back(std::string());
  segment->back()->push_back(c);
}

// The end of the match that begins at `position`; npos if there is none.
size_t Pattern::MatchAt(const Segment& segment, std::string_view text, size_t position) noexcept {
  for (const Piece& piece : segment) {
    if (piece) {
      if (!text.substr(position).starts_with(*piece)) return text.npos;
      position += piece->size();
    } else {
      if (position == text.size() || !BeginsCharacter(text, position)) return text.npos;
      position += CharacterBytes(text, position);
    }
  }
  return position;
}

// The start of the match that ends with the text; npos if there is none. It is unique, because each
// byte belongs to one character.
size_t Pattern::MatchBefore(const Segment& segment, std::string_view text) noexcept {
  size_t position = text.size();
  for (auto piece = segment.rbegin(); piece != segment.rend(); ++piece) {
    if (*piece) {
      if (!text.substr(0, position).ends_with(**piece)) return text.npos;
      position -= (*piece)->size();
    } else {
      const size_t end = position;
      if (end == 0) return text.npos;
      do --position;
      while (!BeginsCharacter(text, position));
      if (position + CharacterBytes(text, position) != end) return text.npos;
    }
  }
  return position;
}

bool Pattern::Matches(std::string_view text) const noexcept {
  size_t position = MatchAt(segments_.front(), text, 0);
  if (segments_.size() == 1) return position == text.size();
  if (position == text.npos) return false;
  const size_t last = MatchBefore(segments_.back(), text);
  if (last == text.npos) return false;
  // For a segment between two %, the leftmost match suffices: one that begins later ends later.
  for (size_t i = 1; i + 1 < segments_.size(); ++i) {
    size_t begin = position;
    while (true) {
      const Segment& segment = segments_[i];
      if (!segment.empty() && segment[0]) {
        begin = text.find(*segment[0], begin);
        if (begin == text.npos) return false;
      }
      position = MatchAt(segment, text, begin);
      if (position != text.npos) break;
      if (begin++ == text.size()) return false;
    }
  }
  return position <= last;
}

std::string_view Pattern::prefix() const noexcept {
  const Segment& first = segments_.front();
  return first.empty() || !first[0] ? std::string_view() : *first[0];
}

std::vector<std::string_view> Pattern::RequiredTokens(const Column& column) const {
  assert(column.has_tokens());
  std::vector<std::string_view> tokens;
  const auto add = [&](std::string_view token) {
    tokens.push_back(token);
    return true;
  };
  for (size_t s = 0; s < segments_.size(); ++s) {
    const Segment& segment = segments_[s];
    for (size_t p = 0; p < segment.size(); ++p) {
      if (!segment[p]) continue;
      const bool is_open_left = s > 0 || p > 0;
      const bool is_open_right = s + 1 < segments_.size() || p + 1 < segment.size();
      if (column.definition().tokeniser == Tokeniser::kWords) {
        // Without words at open ends, which a surrounding text could extend.
        ForEachWord(*segment[p], [&](std::string_view word) {
          const bool is_cut = (is_open_left && word.data() == segment[p]->data()) ||
                              (is_open_right && &word.back() == &segment[p]->back());
          return is_cut || add(word);
        });
      } else {
        ForEachNgram(WholeCharacters(*segment[p], is_open_left, is_open_right),
                     column.definition().ngram_length, add);
      }
    }
  }
  std::sort(tokens.begin(), tokens.end());
  tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
  return tokens;
}

}  // namespace blocksieve::internal
