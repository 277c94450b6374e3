#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Numbers out of text, for fields of rows and literals of predicates alike: whatever both spell the
// same way is the same number. No function depends on the locale.

namespace blocksieve::internal {

/// Decimal digits, for ParseInt with an optional '-' before them, and nothing else: no blanks, no
/// '+'. None if the text is something else or out of the type's range.
std::optional<int64_t> ParseInt(std::string_view text) noexcept;
std::optional<uint64_t> ParseUint(std::string_view text) noexcept;

/// The double nearest to a decimal number such as -12, .5 or 1e-3, or inf, infinity or nan in any
/// case. Beyond the range of double it is an infinity or a zero, as IEEE 754 rounds. None if the
/// text is something else.
std::optional<double> ParseFloat(std::string_view text);

/// A decimal number, exact at any length: "-12", "1.5", "1e400". What makes `n < 1.5` and
/// `n < 1e30` right for integers; going through double would move the bound.
class Decimal {
 public:
  /// None if `text` is not a decimal number (infinities and NaN are none). A '+' is allowed.
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
