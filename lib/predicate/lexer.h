#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace blocksieve::internal {

/// A token of a predicate's text.
struct Token {
  enum class Kind : uint8_t {
    kEnd,
    kWord,     ///< a keyword or a name
    kName,     ///< a name in double quotes
    kString,   ///< in single quotes
    kNumber,   ///< digits, sign, point and exponent
    kSymbol,   ///< an operator, a parenthesis or a comma
    kUnknown,  ///< anything else, such as an unterminated string or name
  };

  Kind kind = Kind::kEnd;
  size_t position = 0;      ///< offset of the first byte, from 0
  std::string_view source;  ///< as written
  std::string text;         ///< without quotes

  /// Whether it is this keyword, in any case. REQUIRES: `keyword` is in upper case
  bool Is(std::string_view keyword) const noexcept;
  bool IsSymbol(std::string_view symbol) const noexcept {
    return kind == Kind::kSymbol && source == symbol;
  }
  bool IsNumber() const noexcept {
    return kind == Kind::kNumber || Is("NAN") || Is("INF") || Is("INFINITY");
  }
};

/// The next token at or after `position`. REQUIRES: position <= text.size()
Token NextToken(std::string_view text, size_t position);

/// Whether `name` needs no quotes in a predicate.
bool IsPlainName(std::string_view name) noexcept;

}  // namespace blocksieve::internal
