#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "blocksieve/column.h"
#include "blocksieve/status.h"

namespace blocksieve::internal {

/// A value as written in a predicate, before it gets the type of a column.
struct Literal {
  bool is_number = false;
  std::string text;  ///< the string itself, or the number as written

  static Literal String(std::string_view text) { return {false, std::string(text)}; }
  static Literal FromValue(const Value& value);

  /// As the parser reads it.
  std::string ToText() const;
};

/// `text` in quotes, with those inside doubled.
std::string Quoted(std::string_view text, char quote);

/// Where a literal stands among the values of a column's type.
struct LiteralBound {
  std::optional<Value> at_or_below;  ///< the greatest value not above it; none if all are above
  bool is_exact = false;             ///< that value is the literal
};

/// Bytes refer to `literal`. A string that is a number, spelt as in a predicate, is one for columns
/// of numbers. Errors: InvalidArgument if another string meets numbers, or a number meets bytes.
Result<LiteralBound> BindLiteral(const Column& column, const Literal& literal);

}  // namespace blocksieve::internal
