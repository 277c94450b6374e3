#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <bit>
#include <cassert>
#include <compare>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "blocksieve/status.h"

namespace blocksieve {

/// Type of a column's values. The numbers are part of the byte format.
enum class ValueType : uint8_t {
  kBytes = 0,  ///< any bytes, including text
  kInt = 1,    ///< signed, 64 bits
  kUint = 2,   ///< unsigned, 64 bits
  kFloat = 3,  ///< IEEE 754, 64 bits
};

/// One value of a column. A value of bytes refers to memory that must outlive it.
class BLOCKSIEVE_EXPORT Value {
 public:
  /// @{
  /// Creates a value of the named type.
  static Value Bytes(std::string_view bytes) noexcept { return {ValueType::kBytes, 0, bytes}; }
  static Value Int(int64_t number) noexcept {
    return {ValueType::kInt, static_cast<uint64_t>(number)};
  }
  static Value Uint(uint64_t number) noexcept { return {ValueType::kUint, number}; }
  static Value Float(double number) noexcept;
  /// @}

  ValueType type() const noexcept { return type_; }  ///< Determines which accessor may be called.

  /// @{
  /// The bytes or the number. REQUIRES: type() is the type in the name
  std::string_view bytes() const noexcept { return As(ValueType::kBytes).bytes_; }
  int64_t as_int() const noexcept { return static_cast<int64_t>(As(ValueType::kInt).number_); }
  uint64_t as_uint() const noexcept { return As(ValueType::kUint).number_; }
  double as_float() const noexcept { return std::bit_cast<double>(As(ValueType::kFloat).number_); }
  /// @}

  /// The order of values in predicates and indexes. Bytes compare as unsigned bytes, numbers by
  /// value; +0.0 equals -0.0, NaN equals NaN and is above every number. REQUIRES: the same types
  std::strong_ordering Compare(const Value& other) const noexcept;

  /// Whether both have the same type and compare as equal.
  friend bool operator==(const Value& a, const Value& b) noexcept {
    return a.type_ == b.type_ && a.Compare(b) == std::strong_ordering::equal;
  }

  /// Hash that filters store; equal values have equal hashes. Part of the byte format: HashKey of
  /// the bytes, or of the number's canonical eight bytes, little-endian, with the type as the seed.
  uint64_t Hash() const noexcept;

  /// For people: bytes unchanged, numbers in the shortest form that parses to the same number.
  std::string ToText() const;

 private:
  Value(ValueType type, uint64_t number, std::string_view bytes = {}) noexcept
      : type_(type), number_(number), bytes_(bytes) {}

  const Value& As([[maybe_unused]] ValueType type) const noexcept {
    assert(type_ == type);
    return *this;
  }

  ValueType type_;
  uint64_t number_;  // the number's bits; 0 for bytes
  std::string_view bytes_;
};

namespace internal {
struct ColumnDefinition;
}  // namespace internal

/// A row of an engine, of whose value and key columns are parts. Owns nothing.
struct Row {
  /// Of engines without columns of keys: these are missing.
  template <class Text>
  requires std::convertible_to<const Text&, std::string_view> Row(const Text& the_value)
      : value(the_value) {}  // NOLINT: implicit
  Row(std::string_view the_key, std::string_view the_value)
      : key(the_key), value(the_value) {}  ///< Both must outlive it.

  std::string_view key = {};  ///< Without what an engine appends to it.
  std::string_view value;     ///< As a reader sees it.
};

/// A named column of rows and how to extract its values from the bytes of a row. Immutable, cheap
/// to copy, which a move does, too; thread-safe.
///
/// Text form, NAME=EXTRACTOR:
///
///     field:2          bytes: field 2, counted from 1, of a delimiter-separated value
///     value            bytes: the whole value
///     fixed(8,4)       bytes: 4 bytes from offset 8
///     json:/a/0/b      bytes: the member at this JSON pointer (RFC 6901)
///     int:5 uint:5 float:6       numbers, from the text of a field
///     words:3          the words of a field
///     ngrams(4):3      its 4-grams: all substrings of 4 characters
///     folded:2 words:folded:3 ngrams(4):folded:3     the same of the folded text, without case
///     int32le(8)       a binary number at offset 8: int or uint of 16, 32 or 64 bits, or float of
///                      32 or 64, then le or be for the byte order; int8(8) and uint8(8)
///     ordered_int64be(8)     the same with its sign bit flipped, as memcomparable keys have it
///     descending_uint64be(8) all bits complemented, so that the largest comes first, as TiKV
///                      writes times; both may be combined: descending_ordered_int64be(8)
///     key:uint64be(8)  a part of the key, not of the value: "key:" stands before any of these but
///                      json:, as in int:key:field(:):3; key:all is the whole key
///
/// A negative offset counts from the end: uint64be(-8), fixed(-16,8). All versions of a row, and
/// its deletes, have the same columns of the key. User-defined timestamps are no part of it.
///
/// A prefix chooses the parts of the column's index, as in `ts=bounds:int:5`: `bounds:` (minimum
/// and maximum, for ranges and orders), `filters:` (for equality, IN and HAS) or `both:`. The
/// default is both, without filters where bounds are nearly as selective. Tokens have filters only.
///
/// `int:`, `uint:`, `float:`, `words:`, `ngrams(N):` and `folded:` accept every source of bytes:
/// `int:json:/age`, `words:value`, `uint:fixed(0,8)`; `int:5` is short for `int:field:5`. The field
/// delimiter (default TAB) is in parentheses: `field(,):2`. The element delimiter of an array is in
/// brackets: `field[;]:2`, `int:field(,)[;]:2`, `value[ ]`; JSON arrays need none. A delimiter is
/// one byte, or `\t`, `\n`, `\\` or `\xHH`.
///
/// A row is *missing* the column if it has no value: too few fields or bytes, text that is not a
/// number of the column's type (blanks and '+' are not allowed), an integer out of range (a float
/// becomes the nearest or infinite), an array without valid elements (such as an empty text), a
/// JSON member that is absent, null or an object. An empty text is a value unless the column is of
/// numbers or an array.
///
/// JSON values: the text of a string, "true", "false", the decimal digits of an integer, the text
/// of other numbers. Array elements that are null, arrays or objects are ignored. A column of
/// numbers accepts numbers of its type (3.0 is an integer) and strings that spell one. The first of
/// equal names wins; nothing after it is read. Parsing stops at invalid JSON, at more than
/// kMaxJsonDepth levels and at a number beyond the range of a double (1e400), in any member.
///
/// Characters, in n-grams and LIKE, are UTF-8 code points. In invalid UTF-8, a lead byte forms a
/// character with up to as many continuation bytes as it announces; each other byte is one.
///
/// Words end at blanks, punctuation and control characters of Unicode 14.0 (categories Z, P, Cc)
/// and at symbols of ASCII. Its simple case folding replaces each character by one, in a text and
/// in what is compared with it, before the text is split into words or n-grams and after an array
/// is split into elements. Invalid UTF-8 is a part of words, and not folded.
class BLOCKSIEVE_EXPORT Column {
 public:
  static constexpr uint32_t kMaxFieldNumber = 1'000'000;  ///< Largest N of field:N.
  static constexpr uint32_t kMaxOffset = 1u << 30;        ///< Largest offset, and largest width.
  static constexpr uint32_t kMaxNgramLength = 32;         ///< Largest N of ngrams(N).
  static constexpr size_t kMaxNameBytes = 128;            ///< Longest column name.
  static constexpr size_t kMaxJsonDepth = 256;            ///< Nested arrays and objects.

  Column(const Column&) noexcept = default;  ///< Never leaves a column without its parts.
  Column& operator=(const Column&) noexcept = default;  ///< See above.

  /// Parses the text form; `delimiter` is the default field delimiter. A name has 1 to
  /// kMaxNameBytes bytes, without '=', '"' and control characters. Errors: InvalidArgument, with
  /// the definition and what is allowed.
  static Result<Column> Parse(std::string_view definition, char delimiter = '\t');

  /// The canonical text form. Parse(ToText()) gives an equal column. Has no control characters, so
  /// definitions can be stored one per line.
  std::string ToText() const;

  const std::string& name() const noexcept;  ///< 1 to kMaxNameBytes bytes.
  ValueType type() const noexcept;           ///< Type of the values.
  bool is_of_key() const noexcept;           ///< Whether it is a part of the key.
  bool has_tokens() const noexcept;          ///< Whether its index has words or n-grams of texts.

  /// The extractor in canonical text form, without name and index parts. Columns with equal keys
  /// have equal values in every row, so an index serves each predicate whose column has its key. An
  /// equal name means nothing: it may have been reused for another field.
  const std::string& key() const noexcept;

  /// For this library: the parsed text.
  const internal::ColumnDefinition& definition() const noexcept { return *definition_; }

  /// Equal definitions, including name and index parts.
  friend bool operator==(const Column& a, const Column& b) {
    return a.definition_ == b.definition_ || (a.name() == b.name() && a.ToText() == b.ToText());
  }

 private:
  explicit Column(std::shared_ptr<const internal::ColumnDefinition> definition) noexcept
      : definition_(std::move(definition)) {}

  std::shared_ptr<const internal::ColumnDefinition> definition_;
};

/// A list of columns, each given as a Column or as text for Column::Parse. Invalid text is reported
/// by status() and by the functions that take the list, which is not empty then. Thread-safe while
/// unchanged.
///
///     index.columns = {"package=field:1", "size=uint:2", my_column};
class BLOCKSIEVE_EXPORT ColumnList {
 public:
  /// A text or a column.
  class Item {
   public:
    /// @{
    /// Implicit, so that a list can mix both.
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

  /// @{
  /// Implicit, so that options can be assigned lists of texts or vectors of columns.
  ColumnList() = default;
  ColumnList(std::initializer_list<Item> items) {  // NOLINT: implicit
    for (const Item& item : items) push_back(item);
  }
  ColumnList(std::vector<Column> columns) : columns_(std::move(columns)) {}  // NOLINT: implicit
  /// @}

  /// The error of the first invalid text, else ok.
  const Status& status() const noexcept { return status_; }

  /// @{
  /// Like a std::vector of the valid columns, but that empty() is false for a list with an invalid
  /// text; converts to std::span.
  void push_back(Item item);
  void clear() noexcept { *this = {}; }
  bool empty() const noexcept { return columns_.empty() && status_.ok(); }
  size_t size() const noexcept { return columns_.size(); }
  const Column* data() const noexcept { return columns_.data(); }
  const Column& operator[](size_t i) const noexcept { return columns_[i]; }
  std::vector<Column>::const_iterator begin() const noexcept { return columns_.begin(); }
  std::vector<Column>::const_iterator end() const noexcept { return columns_.end(); }
  friend bool operator==(const ColumnList& a, const ColumnList& b) {
    return a.columns_ == b.columns_ && a.status_.message() == b.status_.message();
  }
  /// @}

 private:
  std::vector<Column> columns_;
  Status status_;
};

}  // namespace blocksieve
