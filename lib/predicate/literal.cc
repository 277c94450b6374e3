// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "lib/base/errors.h"
#include "lib/column/definition.h"
#include "lib/column/values.h"
#include "lib/predicate/lexer.h"
#include "lib/predicate/node.h"

namespace blocksieve::internal {
namespace {

template <class Integer>
LiteralBound BindInteger(std::string_view text, Value (*make)(Integer) noexcept) {
  constexpr uint64_t kMaxPositive = static_cast<uint64_t>(std::numeric_limits<Integer>::max());
  constexpr uint64_t kMaxNegative = std::numeric_limits<Integer>::is_signed ? kMaxPositive + 1 : 0;
  const LiteralBound above_all{make(std::numeric_limits<Integer>::max()), false};
  const LiteralBound below_all{std::nullopt, false};

  const std::optional<Decimal> number = Decimal::Parse(text);
  if (!number) return text.starts_with('-') ? below_all : above_all;  // infinities, NaN
  const std::optional<uint64_t> whole = number->IntegerPart();
  const bool has_fraction = number->HasFraction();
  if (!number->is_negative()) {
    if (!whole || *whole > kMaxPositive) return above_all;
    return {make(static_cast<Integer>(*whole)), !has_fraction};
  }
  if (!whole || *whole > kMaxNegative || (*whole == kMaxNegative && has_fraction)) return below_all;
  return {make(static_cast<Integer>(0 - *whole - (has_fraction ? 1 : 0))), !has_fraction};
}

// A column of 32 bits has no 1.1, but what 1.1 becomes in 32 bits, which is what people look for.
// In all comparisons, or `v = 1.1` and `v > 1.1` would both be true.
LiteralBound BindFloat(const Column& column, double number) {
  const ColumnDefinition& definition = column.definition();
  const bool is_narrow =
      definition.source == ColumnSource::kBinary && definition.width == sizeof(float);
  if (!is_narrow || !std::isfinite(number)) return {Value::Float(number), true};
  constexpr double kMax = std::numeric_limits<float>::max();
  if (number > kMax) return {Value::Float(kMax), false};
  if (number < -kMax) return {Value::Float(-std::numeric_limits<double>::infinity()), false};
  return {Value::Float(static_cast<double>(static_cast<float>(number))), true};
}

}  // namespace

Literal Literal::FromValue(const Value& value) {
  Literal literal{value.type() != ValueType::kBytes, value.ToText()};
  // The shortest text that parses to the same double may be another integer.
  constexpr double kTwoTo53 = 9007199254740992.0;
  constexpr double kBeyondIntegers = 1e20;
  if (value.type() == ValueType::kFloat && std::abs(value.as_float()) > kTwoTo53 &&
      std::abs(value.as_float()) < kBeyondIntegers) {
    std::array<char, 32> text;
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value.as_float(),
                                   std::chars_format::fixed, 0);
    literal.text.assign(text.data(), end.ptr);
  }
  // The sign of a NaN is irrelevant.
  if (value.type() == ValueType::kFloat && std::isnan(value.as_float())) literal.text = "nan";
  return literal;
}

std::string Literal::ToText() const { return is_number ? text : Quoted(text, '\''); }

std::string Quoted(std::string_view text, char quote) {
  std::string quoted(1, quote);
  for (const char c : text) quoted.append(c == quote ? 2 : 1, c);
  quoted.push_back(quote);
  return quoted;
}

Result<LiteralBound> BindLiteral(const Column& column, const Literal& literal) {
  const bool wants_number = column.type() != ValueType::kBytes;
  bool is_number = literal.is_number;
  if (wants_number && !is_number) {
    // Without quotes, it may be a number in a predicate.
    const Token token = NextToken(literal.text, 0);
    is_number = token.IsNumber() && token.source == literal.text;
  }
  if (is_number != wants_number) {
    return Status::InvalidArgument(
        "column '" + column.name() + "' is " + std::string(ValueTypeName(column.type())) +
        " and cannot be compared with the " +
        (literal.is_number ? "number " + Shown(literal.ToText()) + "; in single quotes it is text"
                           : "string " + Shown(literal.ToText())));
  }
  switch (column.type()) {
    case ValueType::kInt:
      return BindInteger<int64_t>(literal.text, Value::Int);
    case ValueType::kUint:
      return BindInteger<uint64_t>(literal.text, Value::Uint);
    case ValueType::kFloat: {
      std::string_view text = literal.text;
      if (text.starts_with('+')) text.remove_prefix(1);
      return BindFloat(column, ParseFloat(text).value_or(0));
    }
    case ValueType::kBytes:
      break;
  }
  return LiteralBound{Value::Bytes(literal.text), true};
}

}  // namespace blocksieve::internal
