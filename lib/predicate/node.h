#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "blocksieve/column.h"
#include "blocksieve/column_index.h"
#include "blocksieve/status.h"
#include "lib/predicate/literal.h"
#include "lib/predicate/pattern.h"
#include "lib/predicate/skip_plan.h"

namespace blocksieve::internal {

struct PredicateNode;
using PredicateNodePointer = std::shared_ptr<const PredicateNode>;

/// A predicate, bound to its columns: inner nodes combine, leaves compare. Immutable once made.
struct PredicateNode {
  enum class Kind : uint8_t {
    kAnd,
    kOr,
    kNot,
    kConstant,
    // What is compared, once types and spellings are settled:
    kValues,   ///< some value is among `values`
    kRange,    ///< some value is in `range`
    kPattern,  ///< some value matches `pattern`
    kWord,     ///< some word of a text is literals[0]
    kMissing,  ///< the row is missing the column
  };

  bool IsLeaf() const noexcept { return kind >= Kind::kConstant; }

  Kind kind = Kind::kConstant;
  size_t depth = 1;
  std::vector<PredicateNodePointer> children;  ///< two or more; of kNot, one

  // Leaves only.
  bool constant = false;
  std::optional<Column> column;   ///< but for constants
  std::vector<Literal> literals;  ///< as given; values and range refer to them
  std::string upper_bound;        ///< what range.high refers to if that is no literal
  std::vector<Value> values;      ///< ascending, each once
  ValueRange range;               ///< of kPattern, where its matches lie
  std::optional<Pattern> pattern;
  std::string text;          ///< as printed
  std::string negated_text;  ///< the same under NOT

  SkipPlan when_true;   ///< granules without a row for which it is true
  SkipPlan when_false;  ///< without one for which it is false
};

enum class Comparison : uint8_t {
  kEqual,
  kIn,
  kLess,
  kLessOrEqual,
  kGreater,
  kGreaterOrEqual,
  kBetween,
  kLike,
  kStartsWith,
  kHas,
  kMissing,
};

/// A leaf. REQUIRES: as many literals as the comparison has. Errors: InvalidArgument.
Result<PredicateNodePointer> MakeComparison(const Column& column, Comparison comparison,
                                            std::vector<Literal> literals);
PredicateNodePointer MakeConstant(bool is_true);

/// Inner nodes. `kind` is kAnd or kOr. Errors: InvalidArgument beyond Predicate::kMaxDepth.
Result<PredicateNodePointer> MakeCombination(PredicateNode::Kind kind,
                                             std::vector<PredicateNodePointer> operands);
Result<PredicateNodePointer> MakeNot(PredicateNodePointer operand);

/// Sets both plans of a leaf from the rest of it.
void PlanSkipping(PredicateNode* leaf);

std::string PredicateText(const PredicateNode& node);

/// Three-valued, in the order by which AND is the least and OR the greatest.
enum class Truth : uint8_t { kFalse, kUnknown, kTrue };
Truth Evaluate(const PredicateNode& node, std::string_view row);

}  // namespace blocksieve::internal
