#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <optional>
#include <string>
#include <string_view>

#include "blocksieve/column.h"
#include "blocksieve/status.h"

namespace blocksieve::internal {

/// A value as written in a predicate, before conversion to a column's type.
struct Literal {
  bool is_number = false;
  std::string text;  ///< the string itself, or the number as written

  static Literal FromValue(const Value& value);

  /// In the parser's syntax.
  std::string ToText() const;
};

/// `text` in quotes; quotes inside are doubled.
std::string Quoted(std::string_view text, char quote);

/// Position of a literal among the values of a column's type.
struct LiteralBound {
  std::optional<Value> at_or_below;  ///< the largest value not above it; nullopt if all are above
  bool is_exact = false;             ///< whether that value is the literal
};

/// Converts a literal to the column's type; bytes refer to `literal`. A column of numbers accepts
/// strings that spell one. Errors: InvalidArgument for other type mismatches.
Result<LiteralBound> BindLiteral(const Column& column, const Literal& literal);

}  // namespace blocksieve::internal
