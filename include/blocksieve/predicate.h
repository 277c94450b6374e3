#pragma once  // SPDX-License-Identifier: Apache-2.0

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
class GranulePruner;
class JsonComparisons;
struct PredicateNode;
}  // namespace internal

/// An operator between a column and values. Predicate::Not negates it.
enum class Comparison : uint8_t {
  kEqual,           ///< Equals the value.
  kIn,              ///< Equals one of one or more values.
  kLess,            ///< Is below the value, and so on.
  kLessOrEqual,     ///< See kLess.
  kGreater,         ///< See kLess.
  kGreaterOrEqual,  ///< See kLess.
  kBetween,         ///< Is from the first of two values to the second.
  kLike,            ///< Matches a pattern.
  kStartsWith,      ///< Begins with a text.
  kHas,             ///< Has a word, or contains a text, see Predicate.
  kMissing,         ///< Is missing; takes no value.
};

/// A condition on rows. Immutable, cheap to copy, which a move does, too; thread-safe. Text form,
/// keywords in any case:
///
///     c = v   c == v   c != v   c <> v   c < v   c <= v   c > v   c >= v
///     c [NOT] IN (v, ...)       c [NOT] BETWEEN v AND v       c IS [NOT] NULL   (or MISSING)
///     c [NOT] LIKE 'pattern'    c [NOT] STARTSWITH 'prefix'   c [NOT] HAS v
///     TRUE   FALSE   ( p )   NOT p   p AND p   p OR p         NOT binds tightest, OR loosest
///
/// A column is an identifier, or any name in double quotes. Strings are in single quotes; a quote
/// inside is doubled. Numbers are decimal, or nan, inf, -inf; a column of numbers also accepts them
/// as strings ('500', 'nan'). In a pattern, % matches any bytes and _ one character; a backslash
/// escapes %, _ and itself, and is literal before anything else.
///
/// A comparison is true, false or, if the row is missing the column, unknown; IS NULL is true or
/// false. NOT, AND and OR follow the three-valued logic of SQL: NOT unknown is unknown, unknown AND
/// false is false, unknown OR true is true. A row matches if the whole predicate is true.
///
/// Arrays: a comparison is true if any element satisfies it. The negated forms (!=, NOT IN, NOT
/// LIKE, ...) negate that: `a != 1` is true if no element is 1.
///
/// Tokenised columns: all operators but HAS compare the whole text, so results do not depend on how
/// a column is indexed. HAS takes a single word that the text must have (words) or a substring that
/// it must contain (n-grams). For other columns HAS means `=`. Folded columns compare folded texts
/// with folded strings, see Column.
///
/// Numbers compare by Value::Compare. A literal that is out of range or fractional equals no value
/// of an integer column, but is ordered correctly. Float columns round literals like rows' text,
/// those of 32 bits to 32 bits: `v = 1.1` is true of the float 1.1f.
class BLOCKSIEVE_EXPORT Predicate {
 public:
  static constexpr size_t kMaxTextBytes = size_t{1} << 20;  ///< Longest text form.
  static constexpr size_t kMaxDepth = 100;  ///< Nested parentheses and NOTs, or And, Or and Not.

  Predicate(const Predicate&) noexcept = default;  ///< Never leaves a predicate without its parts.
  Predicate& operator=(const Predicate&) noexcept = default;  ///< See above.

  /// Parses the text form. Errors: InvalidArgument, "position P: what was expected, what was
  /// found". P counts bytes from 1 and is also stored in `error_position` unless that is null.
  static Result<Predicate> Parse(std::string_view text, std::span<const Column> columns,
                                 size_t* error_position = nullptr);

  /// @{
  /// The same in C++. A column of numbers accepts numbers of any type, and bytes that spell one.
  /// Errors: InvalidArgument for other type mismatches, another number of values than the operator
  /// takes, a pattern that ends in a single backslash, and HAS with anything but a single word on a
  /// column of words.
  static Result<Predicate> Compare(const Column& column, Comparison comparison,
                                   std::span<const Value> values);
  static Result<Predicate> Compare(const Column& column, Comparison comparison,
                                   const Value& value) {
    return Compare(column, comparison, std::span(&value, 1));
  }
  static Predicate IsMissing(const Column& column);
  static Predicate Constant(bool is_true);
  /// @}

  /// @{
  /// And of no operands is TRUE, Or of none FALSE. Nested operands of the same kind are merged and
  /// add no depth. So are comparisons of a column, also by Parse: `c = 1 OR c = 2` is `c IN (1,
  /// 2)`, `c != 1 AND c != 2` is `c NOT IN (1, 2)`, and of an integer column, not of an array,
  /// `c >= 1 AND c < 9` is `c BETWEEN 1 AND 8`. Errors: InvalidArgument beyond kMaxDepth.
  static Result<Predicate> And(std::span<const Predicate> operands);
  static Result<Predicate> Or(std::span<const Predicate> operands);
  static Result<Predicate> Not(const Predicate& operand);
  /// @}

  /// The text form. Parse with the same columns gives a predicate of the same meaning and text.
  std::string ToText() const;

  /// A column in text form: its name, in double quotes unless it is an identifier.
  static std::string ColumnText(const Column& column);

  /// Columns that the comparisons use, each once.
  const std::vector<Column>& columns() const noexcept { return *columns_; }

  /// Whether a row matches. Of a value alone, columns of the key are missing.
  bool Matches(const Row& row) const;

 private:
  friend class internal::GranulePruner;
  friend struct Query;
  using NodePointer = std::shared_ptr<const internal::PredicateNode>;

  explicit Predicate(NodePointer node);
  template <class MakeNode>
  static Result<Predicate> Wrap(MakeNode make_node);
  static std::vector<NodePointer> CollectNodes(std::span<const Predicate> operands);

  NodePointer node_;
  std::shared_ptr<const std::vector<Column>> columns_;
  std::shared_ptr<const internal::JsonComparisons> json_;  // may be null
};

/// Orders rows by a column's value; of an array, by the smallest, or the largest if descending.
/// Ties are in key order. Rows that are missing the column are left out.
struct ScanOrder {
  Column column;               ///< Must not be tokenised: words and n-grams have no order.
  bool is_descending = false;  ///< Largest first.
};

/// A predicate with an order and a limit. Text form, each part optional: `PREDICATE ORDER BY column
/// [ASC | DESC] LIMIT n`. ORDER BY requires LIMIT. These keywords are not reserved elsewhere.
struct BLOCKSIEVE_EXPORT Query {
  Predicate predicate = Predicate::Constant(true);  ///< Condition on rows.
  std::optional<ScanOrder> order;                   ///< nullopt: key order.
  uint64_t limit = 0;                               ///< Maximum number of rows; 0: no limit.

  /// Parses the text form. Errors: as Predicate::Parse.
  static Result<Query> Parse(std::string_view text, std::span<const Column> columns,
                             size_t* error_position = nullptr);
};

}  // namespace blocksieve
