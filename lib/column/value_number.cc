// SPDX-License-Identifier: Apache-2.0
#include "lib/column/value_number.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>

#include "lib/base/c_locale.h"

namespace blocksieve::internal {
namespace {

template <class Integer>
std::optional<Integer> ParseInteger(std::string_view text) noexcept {
  Integer number{};
  const char* end = text.data() + text.size();
  const std::from_chars_result result = std::from_chars(text.data(), end, number);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return number;
}

bool IsDigit(char c) noexcept { return c >= '0' && c <= '9'; }

// Larger exponents are equivalent: no text has enough digits to compensate.
constexpr int64_t kHugeExponent = int64_t{1} << 40;

// The exponent after 'e', clamped, as it may have any number of digits.
std::optional<int64_t> ParseExponent(std::string_view text) noexcept {
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty() || !std::all_of(text.begin(), text.end(), IsDigit)) return std::nullopt;
  int64_t exponent = 0;
  for (const char c : text) exponent = std::min(exponent * 10 + (c - '0'), kHugeExponent);
  return is_negative ? -exponent : exponent;
}

}  // namespace

std::optional<Value> ReadValue(ValueType type, std::string_view text) {
  switch (type) {
    case ValueType::kInt:
      if (const auto number = ParseInteger<int64_t>(text)) return Value::Int(*number);
      return std::nullopt;
    case ValueType::kUint:
      if (const auto number = ParseInteger<uint64_t>(text)) return Value::Uint(*number);
      return std::nullopt;
    case ValueType::kFloat:
      if (const auto number = ParseFloat(text)) return Value::Float(*number);
      return std::nullopt;
    case ValueType::kBytes:
      break;
  }
  return Value::Bytes(text);
}

std::optional<double> ParseFloat(std::string_view text) {
#ifdef __cpp_lib_to_chars  // many times as fast; libc++ has none for doubles
  double number = 0;
  const char* end = text.data() + text.size();
  const std::from_chars_result result = std::from_chars(text.data(), end, number);
  if (result.ptr != end || result.ec == std::errc::invalid_argument) return std::nullopt;
  if (result.ec == std::errc()) return number;
#endif
  // strtod tells overflow from underflow, which from_chars does not. Unlike from_chars, it accepts
  // leading spaces, a leading '+', and hexadecimal numbers.
  if (text.empty() || text.front() == '+' || text.find_first_of(" \t\n\v\f\rxX") != text.npos) {
    return std::nullopt;
  }
  const CLocale c_locale;
  const std::string terminated(text);
  char* parsed_end = nullptr;
  const double rounded = std::strtod(terminated.c_str(), &parsed_end);
  if (parsed_end != terminated.c_str() + terminated.size()) return std::nullopt;
  return rounded;
}

std::optional<Decimal> Decimal::Parse(std::string_view text) {
  Decimal decimal;
  decimal.is_negative_ = text.starts_with('-');
  if (decimal.is_negative_ || text.starts_with('+')) text.remove_prefix(1);

  if (const size_t e = text.find_first_of("eE"); e != text.npos) {
    const std::optional<int64_t> exponent = ParseExponent(text.substr(e + 1));
    if (!exponent) return std::nullopt;
    decimal.point_ = *exponent;
    text = text.substr(0, e);
  }
  const size_t point = std::min(text.find('.'), text.size());
  decimal.digits_ = text.substr(0, point);
  if (point < text.size()) decimal.digits_ += text.substr(point + 1);
  std::string& digits = decimal.digits_;
  if (digits.empty() || !std::all_of(digits.begin(), digits.end(), IsDigit)) return std::nullopt;

  const size_t zeros = std::min(digits.find_first_not_of('0'), digits.size());
  decimal.point_ += static_cast<int64_t>(point) - static_cast<int64_t>(zeros);
  digits.erase(0, zeros);
  digits.erase(digits.find_last_not_of('0') + 1);
  return decimal;
}

std::optional<uint64_t> Decimal::IntegerPart() const noexcept {
  if (digits_.empty() || point_ <= 0) return 0;
  constexpr int64_t kMaxDigits = 20;  // 2^64 - 1 has 20
  if (point_ > kMaxDigits) return std::nullopt;
  uint64_t number = 0;
  for (size_t i = 0; i < static_cast<size_t>(point_); ++i) {
    const unsigned digit = i < digits_.size() ? static_cast<unsigned>(digits_[i] - '0') : 0;
    if (number > (std::numeric_limits<uint64_t>::max() - digit) / 10) return std::nullopt;
    number = number * 10 + digit;
  }
  return number;
}

bool Decimal::HasFraction() const noexcept {
  return !digits_.empty() && point_ < static_cast<int64_t>(digits_.size());
}

}  // namespace blocksieve::internal
