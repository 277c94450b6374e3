#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "blocksieve/column.h"
#include "blocksieve/predicate.h"
#include "blocksieve/status.h"
#include "lib/predicate/column_index.h"
#include "lib/predicate/literal.h"
#include "lib/predicate/pattern.h"

namespace blocksieve::internal {

/// One question to a ColumnIndex, which removes granules from the set.
using SkipStep = std::function<void(const ColumnIndex&, GranuleSet*)>;

/// The parts of an index that a comparison asks.
enum IndexPart : uint8_t { kFilterPart = 1, kBoundsPart = 2, kMarkPart = 4 };

/// How to rule out granules in which a comparison cannot have one of its two outcomes: a granule
/// stays if all steps of at least one alternative keep it.
struct SkipPlan {
  bool can_prune = false;  ///< if not, there are no alternatives
  /// With none, the comparison never has the outcome: no granule stays, and no index is needed.
  std::vector<std::vector<SkipStep>> alternatives;
  std::string reason;  ///< how it skips, or why not; for people

  /// IndexParts, of which an index must have one to be of use; 0: it takes no index.
  uint8_t parts = 0;
  bool names_parts = false;  ///< `reason` follows the names of those that the index has
};

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
  std::optional<Column> column;   ///< none for constants
  std::vector<Literal> literals;  ///< as given; values and range refer to them
  std::string upper_bound;        ///< what range.high refers to, unless that is a literal
  std::vector<Value> values;      ///< ascending, each once
  ValueRange range;               ///< for kPattern, the range of its matches
  std::optional<Pattern> pattern;
  std::string text;          ///< as printed
  std::string negated_text;  ///< the same under NOT

  SkipPlan when_true;   ///< rules out granules in which it is true for no row
  SkipPlan when_false;  ///< rules out granules in which it is false for no row
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

/// A leaf. REQUIRES: as many literals as the comparison takes. Errors: InvalidArgument.
Result<PredicateNodePointer> MakeComparison(const Column& column, Comparison comparison,
                                            std::vector<Literal> literals);
PredicateNodePointer MakeConstant(bool is_true);

/// Inner nodes. REQUIRES: `kind` is kAnd or kOr. Errors: InvalidArgument beyond
/// Predicate::kMaxDepth.
Result<PredicateNodePointer> MakeCombination(PredicateNode::Kind kind,
                                             std::vector<PredicateNodePointer> operands);
Result<PredicateNodePointer> MakeNot(PredicateNodePointer operand);

/// Sets both plans of a leaf, which refer to its values. REQUIRES: the rest of the leaf is final.
void PlanSkipping(PredicateNode* leaf);

/// See Predicate::Parse.
Result<PredicateNodePointer> ParsePredicate(std::string_view text, std::span<const Column> columns,
                                            size_t* error_position);

/// What Query::Parse reads.
struct ParsedQuery {
  PredicateNodePointer node;
  std::optional<ScanOrder> order;
  uint64_t limit = 0;
};
Result<ParsedQuery> ParseQuery(std::string_view text, std::span<const Column> columns,
                               size_t* error_position);

std::string PredicateText(const PredicateNode& node);

/// Three values in this order: AND is the least of its operands, OR the greatest.
enum class Truth : uint8_t { kFalse, kUnknown, kTrue };
Truth Evaluate(const PredicateNode& node, std::string_view row);

}  // namespace blocksieve::internal
