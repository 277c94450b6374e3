#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace blocksieve::internal {

/// A piece of a predicate's text.
struct Token {
  enum class Kind : uint8_t {
    kEnd,
    kWord,     ///< a keyword or a name
    kName,     ///< a name in double quotes
    kString,   ///< in single quotes
    kNumber,   ///< digits, sign, point and exponent
    kSymbol,   ///< an operator, a parenthesis or a comma
    kUnknown,  ///< anything else, such as a string or name that does not end
  };

  Kind kind = Kind::kEnd;
  size_t position = 0;      ///< of its first byte, from 0
  std::string_view source;  ///< as written
  std::string text;         ///< of strings and names, without the quotes

  /// Whether it is this keyword, in capitals or not. `keyword` is in capitals.
  bool Is(std::string_view keyword) const noexcept;
  bool IsSymbol(std::string_view symbol) const noexcept {
    return kind == Kind::kSymbol && source == symbol;
  }
};

/// The token at `position` of `text`, or after the blanks there. REQUIRES: position <= text.size()
Token NextToken(std::string_view text, size_t position);

/// Whether `name` can stand in a predicate without quotes.
bool IsPlainName(std::string_view name) noexcept;

}  // namespace blocksieve::internal
