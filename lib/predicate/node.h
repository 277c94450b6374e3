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

/// Removes granules from the set by one probe of a ColumnIndex.
using PruningStep = std::function<void(const ColumnIndex&, GranuleSet*)>;

/// Parts of a column's index that a comparison uses.
enum IndexPart : uint8_t { kFilterPart = 1, kBoundsPart = 2, kMarkPart = 4 };

/// How to prune granules in which a comparison cannot have one of its outcomes (true or false). A
/// granule is kept if all steps of at least one alternative keep it.
struct PruningPlan {
  bool can_prune = false;  ///< if false, there are no alternatives
  /// None: the comparison never has the outcome, so all granules are pruned without an index.
  std::vector<std::vector<PruningStep>> alternatives;
  std::string reason;  ///< how it prunes, or why not; for people

  uint8_t parts = 0;         ///< IndexParts, of which the index must have one; 0: needs no index
  bool names_parts = false;  ///< whether `reason` is appended to the names of the index's parts
};

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
  std::optional<Column> column;   ///< nullopt for constants
  std::vector<Literal> literals;  ///< as given; values and range refer to them
  std::string upper_bound;        ///< referred to by range.high, unless that is a literal
  std::vector<Value> values;      ///< ascending, distinct
  ValueRange range;               ///< for kPattern, the range of its matches
  std::optional<Pattern> pattern;
  std::string text;          ///< text form
  std::string negated_text;  ///< text form under NOT

  PruningPlan when_true;   ///< prunes granules in which it is true for no row
  PruningPlan when_false;  ///< prunes granules in which it is false for no row
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

/// Makes a leaf. REQUIRES: the comparison's number of literals. Errors: InvalidArgument.
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

/// See Predicate::Parse.
Result<PredicateNodePointer> ParsePredicate(std::string_view text, std::span<const Column> columns,
                                            size_t* error_position);

/// Result of ParseQuery; see Query::Parse.
struct ParsedQuery {
  PredicateNodePointer node;
  std::optional<ScanOrder> order;
  uint64_t limit = 0;
};
Result<ParsedQuery> ParseQuery(std::string_view text, std::span<const Column> columns,
                               size_t* error_position);

std::string PredicateText(const PredicateNode& node);

/// Three-valued logic: AND is the minimum of its operands, OR the maximum.
enum class Truth : uint8_t { kFalse, kUnknown, kTrue };
Truth Evaluate(const PredicateNode& node, std::string_view row);

}  // namespace blocksieve::internal
