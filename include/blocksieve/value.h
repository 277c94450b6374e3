#pragma once

#include <compare>
#include <cstdint>
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

  /// Which of the accessors may be called.
  ValueType type() const noexcept { return type_; }

  /// @{
  /// What it was made of. REQUIRES: the type of the name
  std::string_view bytes() const noexcept { return bytes_; }
  int64_t as_int() const noexcept { return int_; }
  uint64_t as_uint() const noexcept { return uint_; }
  double as_float() const noexcept { return float_; }
  /// @}

  /// The order that equality, ranges, the index and the re-check of rows all share. Bytes compare
  /// as unsigned bytes, numbers by their value. +0.0 and -0.0 are one value; all NaN are one value,
  /// above every number. REQUIRES: the same type.
  std::strong_ordering Compare(const Value& other) const noexcept;

  /// Of the same type and, by Compare, equal.
  friend bool operator==(const Value& a, const Value& b) noexcept {
    return a.type_ == b.type_ && a.Compare(b) == std::strong_ordering::equal;
  }

  /// The hash by which filters know the value: equal values have equal hashes. Part of the byte
  /// format: XXH3 of the bytes, or of the number's canonical eight bytes, little-endian, with the
  /// type as the seed.
  uint64_t Hash() const noexcept;

  /// For people: text as it is, numbers in the shortest form that reads back.
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

}  // namespace blocksieve
