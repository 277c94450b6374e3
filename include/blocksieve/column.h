#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "blocksieve/status.h"
#include "blocksieve/value.h"

namespace blocksieve {

namespace internal {
class ColumnSet;
struct ColumnDefinition;
}  // namespace internal

/// What an index holds for a text.
enum class Tokeniser : uint8_t {
  kNone,    ///< the whole value
  kWords,   ///< its words: longest runs of ASCII letters and digits and bytes >= 0x80
  kNgrams,  ///< its n-grams: every n characters in a row; a text of fewer has none
};

/// Of which parts an index of a column consists.
enum class IndexParts : uint8_t {
  kChosen,  ///< bounds, and filters unless bounds alone do nearly as well; see GranuleColumnOptions
  kBoth,    ///< bounds and filters
  kFilters,  ///< filters, for equality, IN and HAS
  kBounds,   ///< least and greatest values, for ranges and orders
};

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
///     words:3 ngrams(4):3        the words, the 4-grams of a field; see Tokeniser
///     int32le(8)       a binary number at offset 8: int or uint of 16, 32 or 64 bits, or float of
///                      32 or 64, then le or be for the byte order; int8(8) and uint8(8)
///
/// `bounds:`, `filters:` or `both:` before all that says what an index of the column holds, as in
/// `ts=bounds:int:5`: see IndexParts. Tokens have filters only.
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
class Column {
 public:
  static constexpr uint32_t kMaxFieldNumber = 1'000'000;  ///< of field:N
  static constexpr uint32_t kMaxOffset = 1u << 30;        ///< of offset and width, each
  static constexpr uint32_t kMaxNgramLength = 32;         ///< characters, of ngrams(N)
  static constexpr size_t kMaxNameBytes = 128;            ///< of columns and of callbacks
  static constexpr size_t kMaxJsonDepth = 256;            ///< levels of arrays and objects

  /// Calls `visit` for each value of `row` until that returns false. Values of another type than
  /// the column's are passed over. Must be thread-safe, must always give the same values for the
  /// same bytes, and must not throw.
  using Callback = std::function<void(std::string_view row, const ValueVisitor& visit)>;

  /// Reads the text form. `delimiter` is the field delimiter where the text names none.
  /// A name has 1 to kMaxNameBytes bytes, without '=', '"' and control characters.
  /// Errors: InvalidArgument, with the definition and what is allowed; NotSupported for a callback.
  static Result<Column> Parse(std::string_view definition, char delimiter = '\t');

  /// A column whose values `callback` extracts. In the text form, `TYPE:callback:NAME`, it goes by
  /// `callback_name`, to which the rules of names apply; a callback that gives other values needs
  /// another name. With a tokeniser, `type` is kBytes. Errors: InvalidArgument.
  static Result<Column> FromCallback(std::string_view name, std::string_view callback_name,
                                     ValueType type, Callback callback,
                                     Tokeniser tokeniser = Tokeniser::kNone,
                                     uint32_t ngram_length = 0);

  /// The text form, in its one canonical spelling. Parse(ToText()) gives an equal column unless it
  /// has a callback. Has no control characters, so definitions can be kept one per line.
  std::string ToText() const;

  const std::string& name() const noexcept;  ///< 1 to kMaxNameBytes bytes
  ValueType type() const noexcept;           ///< of the values
  Tokeniser tokeniser() const noexcept;      ///< kNone: an index holds whole values
  uint32_t ngram_length() const noexcept;    ///< 0 without n-grams

  IndexParts index_parts() const noexcept;  ///< what an index is to hold

  /// Whether a row can have more than one value. Tokens of one text do not count.
  bool is_array() const noexcept;

  /// The number of the field that the column reads. None if it reads something else.
  std::optional<uint32_t> field_number() const noexcept;
  /// The same column for another field. REQUIRES: field_number(), and 1 <= number <=
  /// kMaxFieldNumber.
  Column WithFieldNumber(uint32_t number) const;

  /// Gives `visit` what an index holds for a row: its values, or their tokens. Returns whether the
  /// row has the column, also if `visit` stops early; a row with a text without tokens has it. Does
  /// not allocate unless the column is JSON or a callback.
  bool ForEachIndexed(std::string_view row, ValueVisitor visit) const;

  /// Gives `visit` what predicates compare: the values, which are whole texts in a tokenised
  /// column. Otherwise like ForEachIndexed.
  bool ForEachCompared(std::string_view row, ValueVisitor visit) const;

  /// Whether both have the same definition, name and parts included. An index serves a predicate
  /// only if it was built with an equal column, whatever its parts, because a name may have been
  /// dropped and given to another field.
  friend bool operator==(const Column& a, const Column& b) {
    return a.definition_ == b.definition_ || (a.name() == b.name() && a.ToText() == b.ToText());
  }

 private:
  friend class internal::ColumnSet;

  bool ForEachToken(const Value& value, ValueVisitor visit) const;

  explicit Column(std::shared_ptr<const internal::ColumnDefinition> definition) noexcept
      : definition_(std::move(definition)) {}

  std::shared_ptr<const internal::ColumnDefinition> definition_;
};

}  // namespace blocksieve
