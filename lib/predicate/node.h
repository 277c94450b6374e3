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
#include "blocksieve/predicate.h"
#include "blocksieve/status.h"
#include "lib/predicate/pattern.h"
#include "lib/predicate/pruning_step.h"

namespace blocksieve::internal {

/// A value as written in a predicate, before conversion to a column's type.
struct Literal {
  bool is_number = false;
  std::string text;  ///< the string itself, or the number as written

  static Literal FromValue(const Value& value);

  /// In the parser's syntax.
  std::string ToText() const;
};

/// `text` in quotes; quotes inside are doubled.
std::string Quoted(std::string_view text, char quote);

/// Position of a literal among the values of a column's type.
struct LiteralBound {
  std::optional<Value> at_or_below;  ///< the largest value not above it; nullopt if all are above
  bool is_exact = false;             ///< whether that value is the literal
};

/// Converts a literal to the column's type; bytes refer to `literal`. A column of numbers accepts
/// strings that spell one. Errors: InvalidArgument for other type mismatches.
Result<LiteralBound> BindLiteral(const Column& column, const Literal& literal);

struct PredicateNode;
using PredicateNodePointer = std::shared_ptr<const PredicateNode>;

/// A predicate bound to its columns: inner nodes combine, leaves compare. Immutable when complete.
struct PredicateNode {
  enum class Kind : uint8_t {
    kAnd,
    kOr,
    kNot,
    kConstant,
    // Comparisons, normalised:
    kValues,   ///< some value is among `values`
    kRange,    ///< some value is in `range`
    kPattern,  ///< some value matches `pattern`
    kWord,     ///< some word of the text is literals[0]
    kMissing,  ///< the row is missing the column
  };

  bool IsLeaf() const noexcept { return kind >= Kind::kConstant; }

  Kind kind = Kind::kConstant;
  size_t depth = 1;
  std::vector<PredicateNodePointer> children;  ///< two or more; one for kNot

  // Leaves only.
  bool constant = false;
  std::optional<Column> column;                  ///< nullopt for constants
  Comparison comparison = Comparison::kMissing;  ///< as given; unspecified for constants
  std::vector<Literal> literals;                 ///< as given; values and range refer to them
  std::string upper_bound;    ///< referred to by range.high, unless that is a literal
  std::vector<Value> values;  ///< ascending, distinct; of kRange: if few numbers
  ValueRange range;           ///< for kPattern, the range of its matches
  std::optional<Pattern> pattern;
  std::string text;          ///< text form
  std::string negated_text;  ///< text form under NOT

  PruningPlan when_true;   ///< prunes granules in which it is true for no row
  PruningPlan when_false;  ///< prunes granules in which it is false for no row
};

/// Makes a leaf. Errors: InvalidArgument, see Predicate::Compare.
Result<PredicateNodePointer> MakeComparison(const Column& column, Comparison comparison,
                                            std::vector<Literal> literals);
PredicateNodePointer MakeConstant(bool is_true);

/// Makes an inner node. REQUIRES: `kind` is kAnd or kOr. Errors: InvalidArgument beyond
/// Predicate::kMaxDepth.
Result<PredicateNodePointer> MakeCombination(PredicateNode::Kind kind,
                                             std::vector<PredicateNodePointer> operands);
Result<PredicateNodePointer> MakeNot(PredicateNodePointer operand);

/// Sets both plans of a leaf, which refer to its values. REQUIRES: its other members are final.
void PlanPruning(PredicateNode* leaf);

/// See Predicate::Parse; with `query`, sets its order and limit, see Query::Parse.
Result<PredicateNodePointer> ParsePredicate(std::string_view text, std::span<const Column> columns,
                                            size_t* error_position, Query* query = nullptr);

std::string PredicateText(const PredicateNode& node);

}  // namespace blocksieve::internal
