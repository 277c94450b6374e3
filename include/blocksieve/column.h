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
struct ColumnDefinition;
}

/// What an index holds of a text.
enum class Tokeniser : uint8_t {
  kNone,    ///< the whole value
  kWords,   ///< its words: longest runs of ASCII letters and digits and bytes >= 0x80
  kNgrams,  ///< its n-grams: every n characters in a row; a text of fewer has none
};

/// A column over the values of rows: a name, and how its values are found in a row's bytes.
/// Immutable, cheap to copy, thread-safe.
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
/// `int:`, `uint:`, `float:`, `words:` and `ngrams(N):` stand before every source of bytes:
/// `int:json:/age`, `words:value`, `uint:fixed(0,8)`; `int:5` is short for `int:field:5`. The field
/// delimiter, if not TAB, stands in parentheses: `field(,):2`. Arrays have an element delimiter in
/// brackets: `field[;]:2`, `int:field(,)[;]:2`, `value[ ]`; a JSON array is one by itself. A
/// delimiter is one byte, or `\t`, `\n`, `\\` or `\xHH`.
///
/// A row is *missing* the column if it has no value for it: fewer fields, too few bytes, text that
/// is not a number of the column's type (blanks or a '+' around it included), an integer beyond its
/// range (a float is the nearest, or infinite),
/// an array without elements (an empty text) or without valid ones, a JSON member that is absent,
/// null or an object. An empty text that is no number and no array is a value.
///
/// JSON: strings are their text, true and false "true" and "false", integers their decimal digits,
/// other numbers as written; an element that is null, an array or an object is passed over. In a
/// column of numbers, numbers count if they are of the type (3.0 is an integer), strings if their
/// text is such a number. Of equal names the first is taken, and nothing after the member is looked
/// at: damage ends the row there, and so do more than kMaxJsonDepth levels and a number beyond the
/// range of a double (1e400), whichever member has it.
///
/// Characters, in n-grams as in LIKE, are UTF-8 code points. Bytes that are not valid UTF-8 are
/// grouped so that any text has characters: a lead byte with as many continuation bytes as it asks
/// for, or all there are; every other byte alone.
class Column {
 public:
  static constexpr uint32_t kMaxFieldNumber = 1'000'000;  ///< of field:N
  static constexpr uint32_t kMaxOffset = 1u << 30;        ///< of offset and width, each
  static constexpr uint32_t kMaxNgramLength = 32;         ///< characters, of ngrams(N)
  static constexpr size_t kMaxNameBytes = 128;            ///< of columns and of callbacks
  static constexpr size_t kMaxJsonDepth = 256;            ///< levels of arrays and objects

  /// Calls `visit` for each value of `row`, each of the column's type, until it returns false.
  /// Values of another type are passed over. Must be thread-safe, give the same values for the same
  /// bytes forever, and not throw.
  using Callback = std::function<void(std::string_view row, const ValueVisitor& visit)>;

  /// Reads the text form. `delimiter` is the field delimiter where the text names none.
  /// A name has 1 to kMaxNameBytes bytes, no '=', no '"', no control character.
  /// Errors: InvalidArgument, with the definition and what is allowed; NotSupported for a callback.
  static Result<Column> Parse(std::string_view definition, char delimiter = '\t');

  /// A column that `callback` extracts. `callback_name`, with the rules of names, stands for it in
  /// the text form, `TYPE:callback:NAME`: a callback that gives other values needs another name.
  /// With a tokeniser, `type` is kBytes. Errors: InvalidArgument.
  static Result<Column> FromCallback(std::string_view name, std::string_view callback_name,
                                     ValueType type, Callback callback,
                                     Tokeniser tokeniser = Tokeniser::kNone,
                                     uint32_t ngram_length = 0);

  /// The text form, in one spelling: Parse(ToText()) gives an equal column, if it has no callback.
  /// Without control characters, so that definitions can be kept one per line.
  std::string ToText() const;

  const std::string& name() const noexcept;  ///< 1 to kMaxNameBytes bytes
  ValueType type() const noexcept;           ///< of what ForEachCompared gives
  Tokeniser tokeniser() const noexcept;      ///< kNone: an index holds what is compared
  uint32_t ngram_length() const noexcept;    ///< 0 without n-grams

  /// Whether rows can have more than one value to compare (tokens of one text do not count).
  bool is_array() const noexcept;

  /// The field that the column reads; none if it reads something else.
  std::optional<uint32_t> field_number() const noexcept;
  /// The same column of another field. REQUIRES: field_number(), and 1 <= number <=
  /// kMaxFieldNumber.
  Column WithFieldNumber(uint32_t number) const;

  /// Gives `visit` what an index holds of a row: its values, or their tokens. Returns whether the
  /// row has the column; a text without tokens is a value, and the row has it. A visitor that stops
  /// early gets true. Does not allocate unless the column is JSON or a callback.
  bool ForEachIndexed(std::string_view row, ValueVisitor visit) const;

  /// Gives `visit` what predicates compare: the values, of a tokenised column whole texts. The rest
  /// as above.
  bool ForEachCompared(std::string_view row, ValueVisitor visit) const;

  /// Whether both are the same definition, name included. An index serves a predicate only if it
  /// was built with an equal column: a name may have been dropped and given to another field.
  friend bool operator==(const Column& a, const Column& b) {
    return a.definition_ == b.definition_ || (a.name() == b.name() && a.ToText() == b.ToText());
  }

 private:
  explicit Column(std::shared_ptr<const internal::ColumnDefinition> definition) noexcept
      : definition_(std::move(definition)) {}

  std::shared_ptr<const internal::ColumnDefinition> definition_;
};

}  // namespace blocksieve
