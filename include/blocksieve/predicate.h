#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "blocksieve/column.h"
#include "blocksieve/column_index.h"
#include "blocksieve/granule_set.h"
#include "blocksieve/status.h"
#include "blocksieve/value.h"

namespace blocksieve {

namespace internal {
struct PredicateNode;
}

/// The index of a column in one file; null if the file has none. It must have been built with an
/// equal Column, not merely one of the same name.
using ColumnIndexLookup = std::function<const ColumnIndex*(const Column& column)>;

/// What one comparison of a predicate does for skipping granules.
struct SkipExplanation {
  std::string comparison;  ///< as ToText prints it, with the NOT that applies to it
  std::string column;      ///< its name; empty for TRUE and FALSE
  bool can_skip = false;   ///< the comparison alone can rule granules out
  bool is_used = false;    ///< and the predicate around it lets it
  std::string reason;      ///< how it skips, or why not
};

/// A condition on rows. Immutable, cheap to copy, thread-safe.
///
/// Text form, keywords in any case:
///
///     c = v   c == v   c != v   c <> v   c < v   c <= v   c > v   c >= v
///     c [NOT] IN (v, ...)       c [NOT] BETWEEN v AND v       c IS [NOT] NULL   (or MISSING)
///     c [NOT] LIKE 'pattern'    c [NOT] STARTSWITH 'prefix'   c [NOT] HAS v
///     TRUE   FALSE   ( p )   NOT p   p AND p   p OR p         NOT binds most, OR least
///
/// Columns are identifiers, or any name in double quotes. Strings stand in single quotes, a quote
/// in them is doubled. Numbers are decimal, also nan, inf, -inf. In a pattern % is any bytes, _ one
/// character, and a backslash takes the meaning from a following %, _ or backslash; before others
/// it is itself.
///
/// Meaning. As in SQL a comparison is true, false or, for a row that is missing the column,
/// unknown; a row matches if the whole is true.
///
///     a        NOT a      a AND unknown   a OR unknown
///     true     false      unknown         true
///     false    true       false           unknown
///     unknown  unknown    unknown         unknown
///
/// IS NULL is true for a row that is missing the column, else false; never unknown.
///
/// Arrays: a comparison is true if any element satisfies it. The negated forms (!=, NOT IN, NOT
/// LIKE, ...) negate that: `a != 1` says that no element is 1.
///
/// Tokenised columns: all but HAS compare the whole text, so that an answer does not depend on how
/// a column is indexed. HAS of words says that the value, which must be one word, is among them;
/// HAS of n-grams that the text contains the value; HAS of other columns is `=`.
///
/// Numbers compare by value, in the column's type. In columns of integers a literal beyond the type
/// or between two integers is equal to none and is ordered where it belongs. In columns of floats
/// literals are rounded as the text of rows is; -0 equals 0, and NaN equals NaN and is above all.
class Predicate {
 public:
  static constexpr size_t kMaxTextBytes = size_t{1} << 20;  ///< of what Parse takes
  static constexpr size_t kMaxDepth = 100;  ///< of parentheses and NOTs, and of And, Or, Not below

  /// Reads the text form. Errors: InvalidArgument, "position P: what was expected, what was found",
  /// P counting bytes from 1; it is also put into `error_position`, unless null.
  static Result<Predicate> Parse(std::string_view text, std::span<const Column> columns,
                                 size_t* error_position = nullptr);

  /// @{
  /// The same in C++. The value of a column of numbers may be a number of any type; other mixtures
  /// are InvalidArgument, as are patterns that end in a single backslash and, for words, a `Has` of
  /// what is not one word.
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
  /// Without operands And is TRUE, Or is FALSE. Errors: InvalidArgument beyond kMaxDepth; operands
  /// of the same kind merge and add no depth.
  static Result<Predicate> And(std::span<const Predicate> operands);
  static Result<Predicate> Or(std::span<const Predicate> operands);
  static Result<Predicate> Not(const Predicate& operand);
  /// @}

  /// The text form; Parse with the same columns gives a predicate of the same meaning and text.
  std::string ToText() const;

  /// The columns that it compares, each once.
  const std::vector<Column>& columns() const noexcept { return columns_; }

  /// Whether a row is to be returned.
  bool Matches(std::string_view row) const;

  /// Whether some comparison can rule granules out with these indexes. If not, Candidates returns
  /// all and touches no index.
  bool CanSkip(const ColumnIndexLookup& lookup) const;

  /// The granules, of `num_granules` in a file, that may hold a matching row; never lacks one that
  /// does. Comparisons that cannot skip ask no index anything, nor does what they make useless: all
  /// operands of an OR of which one cannot skip.
  /// REQUIRES: indexes that `lookup` returns are of so many granules.
  GranuleSet Candidates(size_t num_granules, const ColumnIndexLookup& lookup) const;

  /// One entry per comparison, in the order of the text. Touches no index.
  std::vector<SkipExplanation> Explain(const ColumnIndexLookup& lookup) const;

 private:
  using NodePointer = std::shared_ptr<const internal::PredicateNode>;

  explicit Predicate(NodePointer node);
  template <class MakeNode>
  static Result<Predicate> Wrap(MakeNode make_node);
  static std::vector<NodePointer> NodesOf(std::span<const Predicate> operands);

  NodePointer node_;
  std::vector<Column> columns_;
};

}  // namespace blocksieve
