// SPDX-License-Identifier: Apache-2.0
#include "lib/predicate/lexer.h"

#include <algorithm>
#include <cassert>

namespace blocksieve::internal {
namespace {

bool IsBlank(char c) noexcept { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool IsDecimalDigit(char c) noexcept { return c >= '0' && c <= '9'; }
char ToUpper(char c) noexcept { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; }
bool BeginsWord(char c) noexcept {
  return (ToUpper(c) >= 'A' && ToUpper(c) <= 'Z') || c == '_' || static_cast<uint8_t>(c) >= 0x80;
}
bool ContinuesWord(char c) noexcept { return BeginsWord(c) || IsDecimalDigit(c); }

bool EqualsKeyword(std::string_view text, std::string_view keyword) noexcept {
  return std::equal(text.begin(), text.end(), keyword.begin(), keyword.end(),
                    [](char a, char b) { return ToUpper(a) == b; });
}

constexpr std::string_view kKeywords[] = {
    "AND",  "BETWEEN", "FALSE", "HAS", "IN",   "INF", "INFINITY",   "IS",
    "LIKE", "MISSING", "NAN",   "NOT", "NULL", "OR",  "STARTSWITH", "TRUE",
};

// Length of the number at the beginning of `text`; 0 if there is none.
size_t NumberBytes(std::string_view text) noexcept {
  size_t end = 0;
  const auto skip_digits = [&] {
    const size_t begin = end;
    while (end < text.size() && IsDecimalDigit(text[end])) ++end;
    return end - begin;
  };
  if (text.starts_with('-') || text.starts_with('+')) ++end;
  size_t digits = skip_digits();
  if (end < text.size() && text[end] == '.') {
    ++end;
    digits += skip_digits();
  }
  if (digits == 0) return 0;
  if (end < text.size() && ToUpper(text[end]) == 'E') {
    const size_t before_exponent = end++;
    if (end < text.size() && (text[end] == '-' || text[end] == '+')) ++end;
    if (skip_digits() == 0) end = before_exponent;
  }
  // "12abc" is not a number, nor a number followed by a name.
  return end < text.size() && ContinuesWord(text[end]) ? 0 : end;
}

// Length of -inf, +infinity and the like.
size_t SignedInfinityBytes(std::string_view text) noexcept {
  if (!text.starts_with('-') && !text.starts_with('+')) return 0;
  size_t end = 1;
  while (end < text.size() && ContinuesWord(text[end])) ++end;
  const std::string_view word = text.substr(1, end - 1);
  return EqualsKeyword(word, "INF") || EqualsKeyword(word, "INFINITY") ? end : 0;
}

size_t SymbolBytes(std::string_view text) noexcept {
  for (const std::string_view symbol : {"==", "!=", "<>", "<=", ">="}) {
    if (text.starts_with(symbol)) return 2;
  }
  return std::string_view("=<>(),").find(text.front()) == std::string_view::npos ? 0 : 1;
}

// The quoted token at the beginning of `rest`, without its quotes.
void ReadQuoted(std::string_view rest, Token* token) {
  const char quote = rest.front();
  for (size_t i = 1; i < rest.size(); ++i) {
    if (rest[i] == quote) {
      if (i + 1 == rest.size() || rest[i + 1] != quote) {
        token->kind = quote == '"' ? Token::Kind::kName : Token::Kind::kString;
        token->source = rest.substr(0, i + 1);
        return;
      }
      ++i;
    }
    token->text.push_back(rest[i]);
  }
  token->source = rest;
}

}  // namespace

bool Token::Is(std::string_view keyword) const noexcept {
  return kind == Kind::kWord && EqualsKeyword(source, keyword);
}

Token NextToken(std::string_view text, size_t position) {
  assert(position <= text.size());
  while (position < text.size() && IsBlank(text[position])) ++position;
  Token token;
  token.position = position;
  const std::string_view rest = text.substr(position);
  if (rest.empty()) return token;

  token.kind = Token::Kind::kUnknown;
  const char first = rest.front();
  if (first == '\'' || first == '"') {
    ReadQuoted(rest, &token);
    return token;
  }
  size_t size = 0;
  if (BeginsWord(first)) {
    while (size < rest.size() && ContinuesWord(rest[size])) ++size;
    token.kind = Token::Kind::kWord;
  } else if ((size = NumberBytes(rest)) != 0 || (size = SignedInfinityBytes(rest)) != 0) {
    token.kind = Token::Kind::kNumber;
  } else if ((size = SymbolBytes(rest)) != 0) {
    token.kind = Token::Kind::kSymbol;
  } else {
    do {
      ++size;
    } while (size < rest.size() && (ContinuesWord(rest[size]) || rest[size] == '.'));
  }
  token.source = rest.substr(0, size);
  token.text = token.source;
  return token;
}

bool IsPlainName(std::string_view name) noexcept {
  return !name.empty() && BeginsWord(name.front()) &&
         std::all_of(name.begin(), name.end(), ContinuesWord) &&
         std::none_of(std::begin(kKeywords), std::end(kKeywords),
                      [&](std::string_view keyword) { return EqualsKeyword(name, keyword); });
}

}  // namespace blocksieve::internal
