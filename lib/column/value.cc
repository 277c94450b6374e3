// SPDX-License-Identifier: Apache-2.0
#include "blocksieve/column.h"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include "blocksieve/hash.h"
#include "lib/base/coding.h"
#include "lib/base/errors.h"
#include "lib/column/value_number.h"
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
