#pragma once

#include <cassert>
#include <compare>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace blocksieve {

/// Types of the values in an indexed column. The numbers are part of the byte format.
enum class ValueType : uint8_t {
  kBytes = 0,  ///< any bytes, text among them
  kInt = 1,    ///< signed, 64 bits
  kUint = 2,   ///< unsigned, 64 bits
  kFloat = 3,  ///< IEEE 754, 64 bits
};

/// "bytes", "int", "uint" or "float".
std::string_view ValueTypeName(ValueType type) noexcept;

/// One value of a column. Bytes refer to memory that must outlive the value.
class Value {
 public:
  /// @{
  /// A value of the type of the name.
  static Value Bytes(std::string_view bytes) noexcept;
  static Value Int(int64_t number) noexcept;
  static Value Uint(uint64_t number) noexcept;
  static Value Float(double number) noexcept;
  /// @}

  /// Decides which accessor may be called.
  ValueType type() const noexcept { return type_; }

  /// @{
  /// The bytes or the number. REQUIRES: the value is of the type in the name
  std::string_view bytes() const noexcept {
    assert(type_ == ValueType::kBytes);
    return bytes_;
  }
  int64_t as_int() const noexcept {
    assert(type_ == ValueType::kInt);
    return int_;
  }
  uint64_t as_uint() const noexcept {
    assert(type_ == ValueType::kUint);
    return uint_;
  }
  double as_float() const noexcept {
    assert(type_ == ValueType::kFloat);
    return float_;
  }
  /// @}

  /// The order on which equality, ranges, indexes and the re-check of rows agree. Bytes compare as
  /// unsigned bytes, numbers by value. +0.0 and -0.0 are one value. All NaN are one value, above
  /// every number. REQUIRES: both are of the same type
  std::strong_ordering Compare(const Value& other) const noexcept;

  /// Whether both have the same type and Compare as equal.
  friend bool operator==(const Value& a, const Value& b) noexcept {
    return a.type_ == b.type_ && a.Compare(b) == std::strong_ordering::equal;
  }

  /// The hash that filters hold; equal values have equal hashes. Part of the byte format: XXH3 of
  /// the bytes, or of the number's canonical eight bytes, little-endian, with the type as the seed.
  uint64_t Hash() const noexcept;

  /// For people: bytes as they are, numbers in the shortest form that reads back.
  std::string ToText() const;

 private:
  ValueType type_ = ValueType::kBytes;
  union {
    int64_t int_;
    uint64_t uint_;
    double float_;
  };
  std::string_view bytes_;
};

/// Refers to a callable `bool(const Value&)`, which it does not own. The callable gets the values
/// of a column one by one and returns whether it wants more; bytes of a value are valid only during
/// the call. A std::function would allocate for every row.
class ValueVisitor {
 public:
  /// `callable` must outlive the visitor and its copies.
  template <class Callable>
  ValueVisitor(const Callable& callable) noexcept  // NOLINT: implicit, to take a lambda
      : callable_(std::addressof(callable)),
        call_([](const void* object, const Value& value) -> bool {
          return (*static_cast<const Callable*>(object))(value);
        }) {}

  /// Gives the callable a value and returns whether it wants more.
  bool operator()(const Value& value) const { return call_(callable_, value); }

 private:
  const void* callable_;
  bool (*call_)(const void* object, const Value& value);
};

}  // namespace blocksieve
