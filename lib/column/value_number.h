#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "blocksieve/column.h"

// Values parsed from text, for fields of rows and literals of predicates alike. Independent of the
// locale.

namespace blocksieve::internal {

/// The ValueType with the largest number.
ValueType MaxValueType() noexcept;

/// The value that `text` spells in a column of `type`; bytes refer to the text. nullopt if it is
/// not a number of the type. Integers are decimal digits, for kInt after an optional '-', without
/// blanks or '+'. For floats see ParseFloat.
std::optional<Value> ReadValue(ValueType type, std::string_view text);

/// The double nearest to a decimal number such as -12, .5 or 1e-3, or inf, infinity or nan in any
/// case. Numbers out of range become infinity or zero, as IEEE 754 rounds them. nullopt if the text
/// is something else.
std::optional<double> ParseFloat(std::string_view text);

/// A decimal number, exact at any length: "-12", "1.5", "1e400". Makes `n < 1.5` and `n < 1e30`
/// exact for integer columns, where a conversion to double would move the bound.
class Decimal {
 public:
  /// nullopt if `text` is not a decimal number (infinity and NaN are not). A '+' is allowed.
  static std::optional<Decimal> Parse(std::string_view text);

  bool is_negative() const noexcept { return is_negative_ && !digits_.empty(); }

  /// The integer part of the magnitude. nullopt if it exceeds 2^64 - 1.
  std::optional<uint64_t> IntegerPart() const noexcept;

  /// Whether the fraction is not zero.
  bool HasFraction() const noexcept;

 private:
  bool is_negative_ = false;
  std::string digits_;  // significant digits: neither the first nor the last is zero
  int64_t point_ = 0;   // the value is 0.DIGITS * 10^point_
};

}  // namespace blocksieve::internal
