#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "blocksieve/column.h"
#include "blocksieve/status.h"

namespace blocksieve {

namespace internal {
struct PredicateAccess;
struct PredicateNode;
}  // namespace internal

/// A condition on rows. Immutable, cheap to copy, thread-safe.
///
/// Text form, keywords in any case:
///
///     c = v   c == v   c != v   c <> v   c < v   c <= v   c > v   c >= v
///     c [NOT] IN (v, ...)       c [NOT] BETWEEN v AND v       c IS [NOT] NULL   (or MISSING)
///     c [NOT] LIKE 'pattern'    c [NOT] STARTSWITH 'prefix'   c [NOT] HAS v
///     TRUE   FALSE   ( p )   NOT p   p AND p   p OR p         NOT binds most, OR least
///
/// A column is an identifier, or any name in double quotes. Strings stand in single quotes, with
/// quotes inside doubled. Numbers are decimal, or nan, inf, -inf. In a pattern % matches any bytes
/// and _ one character; a backslash makes a following %, _ or backslash literal, and is itself
/// literal before anything else. For a column of numbers, a string that spells a number is that
/// number: '500' is 500, 'nan' is nan.
///
/// As in SQL, a comparison is true, false or, for a row that is missing the column, unknown. A row
/// matches if the whole predicate is true.
///
///     a        NOT a      a AND unknown   a OR unknown
///     true     false      unknown         true
///     false    true       false           unknown
///     unknown  unknown    unknown         unknown
///
/// IS NULL is true for a row that is missing the column and false for others, never unknown.
///
/// Arrays: a comparison is true if any element satisfies it. The negated forms (!=, NOT IN, NOT
/// LIKE, ...) negate that: `a != 1` says that no element is 1.
///
/// Tokenised columns: every operator but HAS compares the whole text, so answers do not depend on
/// how a column is indexed. With words, HAS takes a single word and says that the text has it. With
/// n-grams, it says that the text contains the value. For other columns HAS means `=`.
///
/// Numbers compare by value, in the column's type. In a column of integers, a literal beyond the
/// type or between two integers equals no value, but is ordered correctly. In a column of floats,
/// literals are rounded as the text of rows is; -0 equals 0, NaN equals NaN and is above all other
/// numbers.
class BLOCKSIEVE_EXPORT Predicate {
 public:
  static constexpr size_t kMaxTextBytes = size_t{1} << 20;  ///< of the text form
  static constexpr size_t kMaxDepth = 100;  ///< of parentheses and NOTs, and of And, Or, Not below

  /// Reads the text form. Errors: InvalidArgument, "position P: what was expected, what was found".
  /// P counts bytes from 1 and is also stored in `error_position`, unless that is null.
  static Result<Predicate> Parse(std::string_view text, std::span<const Column> columns,
                                 size_t* error_position = nullptr);

  /// @{
  /// The same in C++. A column of numbers takes numbers of any type, and bytes that spell one.
  /// Errors: InvalidArgument for other mixtures of types, no values for In, patterns that end in a
  /// single backslash, and anything but a single word for `Has` in a column of words.
  static Result<Predicate> Equals(const Column& column, const Value& value);
  static Result<Predicate> NotEquals(const Column& column, const Value& value);
  static Result<Predicate> Less(const Column& column, const Value& value);
  static Result<Predicate> LessOrEqual(const Column& column, const Value& value);
  static Result<Predicate> Greater(const Column& column, const Value& value);
  static Result<Predicate> GreaterOrEqual(const Column& column, const Value& value);
  static Result<Predicate> Between(const Column& column, const Value& low, const Value& high);
  static Result<Predicate> In(const Column& column, std::span<const Value> values);
  static Result<Predicate> Like(const Column& column, std::string_view pattern);
  static Result<Predicate> StartsWith(const Column& column, std::string_view prefix);
  static Result<Predicate> Has(const Column& column, const Value& value);
  static Predicate IsMissing(const Column& column);
  static Predicate Constant(bool is_true);
  /// @}

  /// @{
  /// Without operands, And is TRUE and Or is FALSE. Operands of the same kind merge and add no
  /// depth. Errors: InvalidArgument beyond kMaxDepth.
  static Result<Predicate> And(std::span<const Predicate> operands);
  static Result<Predicate> Or(std::span<const Predicate> operands);
  static Result<Predicate> Not(const Predicate& operand);
  /// @}

  /// The text form. Parse with the same columns gives a predicate of the same meaning and text.
  std::string ToText() const;

  /// The columns in its comparisons, each once.
  const std::vector<Column>& columns() const noexcept { return columns_; }

  /// Whether a row matches.
  bool Matches(std::string_view row) const;

 private:
  friend struct internal::PredicateAccess;
  friend struct Query;
  using NodePointer = std::shared_ptr<const internal::PredicateNode>;

  explicit Predicate(NodePointer node);
  template <class MakeNode>
  static Result<Predicate> Wrap(MakeNode make_node);
  static std::vector<NodePointer> NodesOf(std::span<const Predicate> operands);

  NodePointer node_;
  std::vector<Column> columns_;
};

/// An order of rows by a column: by the least value of a row, or by its greatest if it is
/// descending. Rows of equal values are in the order of their keys. Rows without a value are left
/// out.
struct ScanOrder {
  Column column;               ///< Not of words or n-grams, which have no order.
  bool is_descending = false;  ///< The greatest first.
};

/// A condition on rows, and which of those that match are wanted.
///
/// Text form, each part optional: `PREDICATE ORDER BY column [ASC | DESC] LIMIT n`. Columns are
/// written as in predicates. An order needs a limit. Words of it are no keywords elsewhere.
struct BLOCKSIEVE_EXPORT Query {
  Predicate predicate = Predicate::Constant(true);  ///< That rows must match.
  std::optional<ScanOrder> order;                   ///< None: that of keys.
  uint64_t limit = 0;                               ///< The most rows; 0: all.

  /// Reads the text form. Errors: as of Predicate::Parse.
  static Result<Query> Parse(std::string_view text, std::span<const Column> columns,
                             size_t* error_position = nullptr);
};

}  // namespace blocksieve
