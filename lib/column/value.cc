#include "blocksieve/column.h"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include "blocksieve/hash.h"
#include "lib/base/coding.h"
#include "lib/column/value_number.h"

namespace blocksieve {
namespace {

constexpr std::string_view kTypeNames[] = {"bytes", "int", "uint", "float"};

// One representation for all numbers that compare as equal.
double Canonical(double number) noexcept {
  if (std::isnan(number)) return std::numeric_limits<double>::quiet_NaN();
  return number == 0 ? 0.0 : number;
}

uint64_t HashNumber(uint64_t bits, ValueType type) noexcept {
  uint8_t bytes[sizeof(bits)];
  StoreLittleEndian(bytes, bits);
  return HashKey(AsText(bytes), static_cast<uint64_t>(type));
}

template <class Number>
std::string NumberText(Number number) {
  std::array<char, 32> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number);
  return {text.data(), end.ptr};
}

}  // namespace

ValueType internal::MaxValueType() noexcept { return ValueType{std::size(kTypeNames) - 1}; }

std::string_view ValueTypeName(ValueType type) noexcept {
  return type <= internal::MaxValueType() ? kTypeNames[static_cast<size_t>(type)] : "unknown";
}

Value Value::Bytes(std::string_view bytes) noexcept {
  Value value;
  value.int_ = 0;
  value.bytes_ = bytes;
  return value;
}

Value Value::Int(int64_t number) noexcept {
  Value value;
  value.type_ = ValueType::kInt;
  value.int_ = number;
  return value;
}

Value Value::Uint(uint64_t number) noexcept {
  Value value;
  value.type_ = ValueType::kUint;
  value.uint_ = number;
  return value;
}

Value Value::Float(double number) noexcept {
  Value value;
  value.type_ = ValueType::kFloat;
  value.float_ = Canonical(number);
  return value;
}

std::strong_ordering Value::Compare(const Value& other) const noexcept {
  assert(type_ == other.type_);
  switch (type_) {
    case ValueType::kBytes:
      return bytes_.compare(other.bytes_) <=> 0;  // char_traits compare as unsigned bytes
    case ValueType::kInt:
      return int_ <=> other.int_;
    case ValueType::kUint:
      return uint_ <=> other.uint_;
    case ValueType::kFloat:
      break;
  }
  const bool is_nan = std::isnan(float_);
  const bool other_is_nan = std::isnan(other.float_);
  if (is_nan || other_is_nan) return is_nan <=> other_is_nan;
  if (float_ < other.float_) return std::strong_ordering::less;
  return float_ > other.float_ ? std::strong_ordering::greater : std::strong_ordering::equal;
}

uint64_t Value::Hash() const noexcept {
  switch (type_) {
    case ValueType::kBytes:
      return HashKey(bytes_, static_cast<uint64_t>(type_));
    case ValueType::kInt:
      return HashNumber(static_cast<uint64_t>(int_), type_);
    case ValueType::kUint:
      return HashNumber(uint_, type_);
    case ValueType::kFloat:
      break;
  }
  return HashNumber(std::bit_cast<uint64_t>(float_), type_);
}

std::string Value::ToText() const {
  switch (type_) {
    case ValueType::kBytes:
      return std::string(bytes_);
    case ValueType::kInt:
      return NumberText(int_);
    case ValueType::kUint:
      return NumberText(uint_);
    case ValueType::kFloat:
      break;
  }
  return NumberText(float_);
}

}  // namespace blocksieve
