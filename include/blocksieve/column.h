#pragma once

#include <bit>
#include <cassert>
#include <compare>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "blocksieve/status.h"

namespace blocksieve {

/// Types of the values in an indexed column. The numbers are part of the byte format.
enum class ValueType : uint8_t {
  kBytes = 0,  ///< any bytes, text among them
  kInt = 1,    ///< signed, 64 bits
  kUint = 2,   ///< unsigned, 64 bits
  kFloat = 3,  ///< IEEE 754, 64 bits
};

/// "bytes", "int", "uint" or "float".
BLOCKSIEVE_EXPORT std::string_view ValueTypeName(ValueType type) noexcept;

/// One value of a column. Bytes refer to memory that must outlive the value.
class BLOCKSIEVE_EXPORT Value {
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
    return static_cast<int64_t>(number_);
  }
  uint64_t as_uint() const noexcept {
    assert(type_ == ValueType::kUint);
    return number_;
  }
  double as_float() const noexcept {
    assert(type_ == ValueType::kFloat);
    return std::bit_cast<double>(number_);
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
  explicit Value(ValueType type, uint64_t number, std::string_view bytes = {}) noexcept
      : type_(type), number_(number), bytes_(bytes) {}

  ValueType type_;
  uint64_t number_;  // its bits; of bytes, 0
  std::string_view bytes_;
};

namespace internal {
struct ColumnAccess;
struct ColumnDefinition;
}  // namespace internal

/// A column of rows: a name, and how to find its values in the bytes of a row. Immutable, cheap to
/// copy, thread-safe.
///
/// Text form, NAME=EXTRACTOR:
///
///     field:2          bytes: field 2, counted from 1, of a delimiter-separated value
///     value            bytes: the whole value
///     fixed(8,4)       bytes: 4 bytes from offset 8
///     json:/a/0/b      bytes: the member that this JSON pointer (RFC 6901) names
///     int:5 uint:5 float:6       numbers, from the text of a field
///     words:3          the words of a field: longest runs of ASCII letters, digits, bytes >= 0x80
///     ngrams(4):3      its 4-grams: every 4 characters in a row
///     int32le(8)       a binary number at offset 8: int or uint of 16, 32 or 64 bits, or float of
///                      32 or 64, then le or be for the byte order; int8(8) and uint8(8)
///
/// `bounds:` (least and greatest values, for ranges and orders), `filters:` (for equality, IN and
/// HAS) or `both:` before all that says what an index of the column holds, as in `ts=bounds:int:5`.
/// By default both, but no filters where bounds do nearly as well. Tokens have filters only.
///
/// `int:`, `uint:`, `float:`, `words:` and `ngrams(N):` may precede every source of bytes:
/// `int:json:/age`, `words:value`, `uint:fixed(0,8)`; `int:5` is short for `int:field:5`. A field
/// delimiter other than TAB stands in parentheses: `field(,):2`. Arrays have an element delimiter
/// in brackets: `field[;]:2`, `int:field(,)[;]:2`, `value[ ]`; a JSON array needs none. A delimiter
/// is one byte, or `\t`, `\n`, `\\` or `\xHH`.
///
/// A row is *missing* the column if it has no value for it: fewer fields, too few bytes, text that
/// is not a number of the column's type (blanks or a '+' around it included), an integer beyond its
/// range (a float becomes the nearest, or infinite), an array without elements (an empty text) or
/// without valid ones, a JSON member that is absent, null or an object. Unless a number or an array
/// is expected, an empty text is a value.
///
/// JSON: the value of a string is its text, of true and false "true" and "false", of an integer its
/// decimal digits, of other numbers their text. Elements that are null, arrays or objects are
/// passed over. In a column of numbers, a number counts if it is of the type (3.0 is an integer),
/// and a string if its text is such a number. Of equal names the first counts, and nothing after
/// the member is read. Damage ends the row where it occurs, as do more than kMaxJsonDepth levels
/// and a number beyond the range of a double (1e400), in whichever member.
///
/// Characters, in n-grams as in LIKE, are UTF-8 code points. In invalid UTF-8 a lead byte forms a
/// character with as many continuation bytes as it announces, or as many as there are; every other
/// byte is a character of its own.
class BLOCKSIEVE_EXPORT Column {
 public:
  static constexpr uint32_t kMaxFieldNumber = 1'000'000;  ///< of field:N
  static constexpr uint32_t kMaxOffset = 1u << 30;        ///< of offset and width, each
  static constexpr uint32_t kMaxNgramLength = 32;         ///< characters, of ngrams(N)
  static constexpr size_t kMaxNameBytes = 128;            ///< of columns
  static constexpr size_t kMaxJsonDepth = 256;            ///< levels of arrays and objects

  /// Reads the text form. `delimiter` is the field delimiter where the text names none.
  /// A name has 1 to kMaxNameBytes bytes, without '=', '"' and control characters.
  /// Errors: InvalidArgument, with the definition and what is allowed.
  static Result<Column> Parse(std::string_view definition, char delimiter = '\t');

  /// The text form, in its one canonical spelling. Parse(ToText()) gives an equal column.
  /// Has no control characters, so definitions can be kept one per line.
  std::string ToText() const;

  const std::string& name() const noexcept;  ///< 1 to kMaxNameBytes bytes.
  ValueType type() const noexcept;           ///< Type of the values.

  /// Whether both have the same definition, name and parts included. An index serves a predicate
  /// only if it was built with an equal column, whatever its parts, because a name may have been
  /// dropped and given to another field.
  friend bool operator==(const Column& a, const Column& b) {
    return a.definition_ == b.definition_ || (a.name() == b.name() && a.ToText() == b.ToText());
  }

 private:
  friend struct internal::ColumnAccess;

  explicit Column(std::shared_ptr<const internal::ColumnDefinition> definition) noexcept
      : definition_(std::move(definition)) {}

  std::shared_ptr<const internal::ColumnDefinition> definition_;
};

/// Columns, each given as a text that Column::Parse reads or as a Column:
///
///     index.columns = {"package=field:1", "size=uint:2", my_column};
///
/// A text that is no column is an error of whatever takes the columns; see status(). Thread-safe if
/// nothing changes it.
class BLOCKSIEVE_EXPORT ColumnList {
 public:
  /// A text or a column.
  class Item {
   public:
    /// @{
    /// Implicit, so that a list mixes both.
    Item(std::string_view definition) : column_(Column::Parse(definition)) {}    // NOLINT: implicit
    Item(const std::string& definition) : Item(std::string_view(definition)) {}  // NOLINT: implicit
    Item(const char* definition)                                                 // NOLINT: implicit
        : Item(std::string_view(definition == nullptr ? "" : definition)) {}
    Item(Column column)  // NOLINT: implicit
        : column_(std::move(column)) {}
    /// @}

   private:
    friend class ColumnList;
    Result<Column> column_;
  };

  ColumnList() = default;
  /// @{
  /// Implicit: see above.
  ColumnList(std::initializer_list<Item> items) {  // NOLINT: implicit
    for (const Item& item : items) push_back(item);
  }
  ColumnList(std::vector<Column> columns) : columns_(std::move(columns)) {}  // NOLINT: implicit
  /// @}

  /// The error of the first text that is no column; ok if there is none.
  const Status& status() const noexcept { return status_; }

  /// @{
  /// As of a vector of those that are columns; a std::span takes it.
  void push_back(Item item);
  void clear() noexcept { *this = {}; }
  bool empty() const noexcept { return columns_.empty(); }
  size_t size() const noexcept { return columns_.size(); }
  const Column& operator[](size_t i) const noexcept { return columns_[i]; }
  std::vector<Column>::const_iterator begin() const noexcept { return columns_.begin(); }
  std::vector<Column>::const_iterator end() const noexcept { return columns_.end(); }
  friend bool operator==(const ColumnList& a, const ColumnList& b) {
    return a.columns_ == b.columns_;
  }
  /// @}

 private:
  std::vector<Column> columns_;
  Status status_;
};

}  // namespace blocksieve
