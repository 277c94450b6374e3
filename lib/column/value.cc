// SPDX-License-Identifier: Apache-2.0
#include "blocksieve/column.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "blocksieve/hash.h"
#include "lib/base/c_locale.h"
#include "lib/base/coding.h"
#include "lib/base/errors.h"
#include "lib/column/values.h"

namespace blocksieve {
namespace {

constexpr std::string_view kTypeNames[] = {"bytes", "int", "uint", "float"};

}  // namespace

ValueType internal::MaxValueType() noexcept { return ValueType{std::size(kTypeNames) - 1}; }

std::string_view ValueTypeName(ValueType type) noexcept {
  return type <= internal::MaxValueType() ? kTypeNames[static_cast<size_t>(type)] : "unknown";
}

// The same bits for all numbers that compare as equal.
Value Value::Float(double number) noexcept {
  if (std::isnan(number)) number = std::numeric_limits<double>::quiet_NaN();
  if (number == 0) number = 0.0;
  return {ValueType::kFloat, std::bit_cast<uint64_t>(number)};
}

std::strong_ordering Value::Compare(const Value& other) const noexcept {
  assert(type_ == other.type_);
  switch (type_) {
    case ValueType::kBytes:
      return bytes_.compare(other.bytes_) <=> 0;  // char_traits compare as unsigned bytes
    case ValueType::kInt:
      return as_int() <=> other.as_int();
    case ValueType::kUint:
      return number_ <=> other.number_;
    case ValueType::kFloat:
      break;
  }
  const double a = as_float();
  const double b = other.as_float();
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) <=> std::isnan(b);
  if (a < b) return std::strong_ordering::less;
  return a > b ? std::strong_ordering::greater : std::strong_ordering::equal;
}

uint64_t Value::Hash() const noexcept {
  const auto seed = static_cast<uint64_t>(type_);
  if (type_ == ValueType::kBytes) return HashKey(bytes_, seed);
  uint8_t bytes[sizeof(number_)];
  StoreLittleEndian(bytes, number_);
  return HashKey(AsText(bytes), seed);
}

std::string Value::ToText() const {
  switch (type_) {
    case ValueType::kBytes:
      return std::string(bytes_);
    case ValueType::kInt:
      return internal::ShortestText(as_int());
    case ValueType::kUint:
      return internal::ShortestText(number_);
    case ValueType::kFloat:
      break;
  }
  return internal::ShortestText(as_float());
}

}  // namespace blocksieve

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
