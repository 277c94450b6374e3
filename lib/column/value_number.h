#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "blocksieve/column.h"

// Values read from text. Fields of rows and literals of predicates share these functions, so the
// same spelling is the same number in both. No function depends on the locale.

namespace blocksieve::internal {

/// The type of the highest number.
ValueType MaxValueType() noexcept;

/// The value that `text` spells in a column of `type`; bytes refer to the text. None if it spells
/// no such number. Integers are decimal digits, signed ones with an optional '-' before them, and
/// nothing else: no blanks, no '+'. Floats are read by ParseFloat.
std::optional<Value> ReadValue(ValueType type, std::string_view text);

/// Reads a decimal number such as -12, .5 or 1e-3 as the nearest double, or inf, infinity or nan in
/// any case. A number beyond the range of double becomes an infinity or a zero, as IEEE 754 rounds
/// it. None if the text is something else.
std::optional<double> ParseFloat(std::string_view text);

/// A decimal number, exact at any length: "-12", "1.5", "1e400". It makes `n < 1.5` and `n < 1e30`
/// right for integers, where a detour through double would move the bound.
class Decimal {
 public:
  /// None if `text` is not a decimal number (infinities and NaN are not). A '+' is allowed.
  static std::optional<Decimal> Parse(std::string_view text);

  bool is_negative() const noexcept { return is_negative_ && !digits_.empty(); }

  /// The integer part of the magnitude. None if it exceeds 2^64 - 1.
  std::optional<uint64_t> IntegerPart() const noexcept;

  /// Whether something other than zeros follows the integer part.
  bool HasFraction() const noexcept;

  /// Whether the magnitude is at least one.
  bool IsAtLeastOne() const noexcept { return !digits_.empty() && point_ > 0; }

 private:
  bool is_negative_ = false;
  std::string digits_;  // significant ones: neither the first nor the last is zero
  int64_t point_ = 0;   // the value is 0.DIGITS times ten to this
};

}  // namespace blocksieve::internal
