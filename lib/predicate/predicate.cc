// SPDX-License-Identifier: Apache-2.0
#include "blocksieve/predicate.h"

#include <algorithm>
#include <compare>
#include <functional>

#include "lib/base/coding.h"
#include "lib/base/errors.h"
#include "lib/column/definition.h"
#include "lib/column/tokens.h"
#include "lib/column/values.h"
#include "lib/predicate/lexer.h"
#include "lib/predicate/node.h"

namespace blocksieve::internal {
namespace {

using Kind = PredicateNode::Kind;

bool Contains(const std::vector<Value>& values, const Value& value) noexcept {
  const auto is_less = [](const Value& a, const Value& b) {
    return a.Compare(b) == std::strong_ordering::less;
  };
  return std::binary_search(values.begin(), values.end(), value, is_less);
}

bool IsWithin(const ValueRange& range, const Value& value) noexcept {
  if (range.low) {
    const std::strong_ordering order = value.Compare(*range.low);
    if (range.includes_low ? order < 0 : order <= 0) return false;
  }
  if (range.high) {
    const std::strong_ordering order = value.Compare(*range.high);
    if (range.includes_high ? order > 0 : order >= 0) return false;
  }
  return true;
}

BLOCKSIEVE_INLINE bool IsTrueFor(const PredicateNode& leaf, const Value& value) {
  switch (leaf.kind) {
    case Kind::kValues:
      return Contains(leaf.values, value);
    case Kind::kRange:
      return IsWithin(leaf.range, value);
    case Kind::kPattern:
      return leaf.pattern->Matches(value.bytes());
    case Kind::kWord:
      return !ForEachWord(value.bytes(),
                          [&](std::string_view word) { return word != leaf.literals[0].text; });
    default:
      return true;
  }
}

bool IsJson(const PredicateNode& leaf) noexcept {
  return leaf.column && leaf.column->definition().source == ColumnSource::kJson;
}

// Whether a value of the row satisfies a comparison; nullopt: the row has no value.
std::optional<bool> FindInRow(const PredicateNode& leaf, const Row& row) {
  bool is_true = false;
  const bool has_column = ForEachCompared(*leaf.column, row, [&](const Value& value) {
    is_true = IsTrueFor(leaf, value);
    return !is_true;
  });
  return has_column ? std::optional(is_true) : std::nullopt;
}

// The outcome of a comparison, by FindInRow; nullopt: unknown.
std::optional<bool> Outcome(const PredicateNode& leaf, std::optional<bool> found) noexcept {
  return leaf.kind == Kind::kMissing ? !found.has_value() : found;
}

// Whether a node has the outcome, true or false, by `has(leaf, outcome)`: three-valued logic, as an
// unknown leaf has neither.
template <class Has>
bool HasOutcome(const PredicateNode& node, bool outcome, const Has& has) {
  if (node.kind == Kind::kConstant) return node.constant == outcome;
  if (node.IsLeaf()) return has(node, outcome);
  if (node.kind == Kind::kNot) return HasOutcome(*node.children[0], !outcome, has);
  const auto child_has = [&](const auto& child) { return HasOutcome(*child, outcome, has); };
  return (node.kind == Kind::kAnd) == outcome ? std::ranges::all_of(node.children, child_has)
                                              : std::ranges::any_of(node.children, child_has);
}

}  // namespace

/// The comparisons of a predicate with JSON members: a row is parsed once for all of them. Refers
/// to the predicate's nodes. Immutable, thread-safe.
class JsonComparisons {
 public:
  /// Null for fewer than two, which gain nothing.
  static std::shared_ptr<const JsonComparisons> Find(const PredicateNode& root) {
    auto found = std::make_shared<JsonComparisons>();
    found->root_ = &root;
    found->Collect(root);
    std::vector<const PredicateNode*>& leaves = found->leaves_;
    if (leaves.size() < 2) return nullptr;
    std::ranges::sort(leaves, std::less<>());
    for (size_t i = 0; i < leaves.size(); ++i) {
      found->members_.Add(i, leaves[i]->column->definition());
    }
    return found;
  }

  /// By number, whether some value of a row satisfies the comparison; nullopt: the row has no
  /// value. Parsing stops when it is decided whether the predicate is true; results that matter no
  /// more are then unspecified.
  std::vector<std::optional<bool>> Compare(std::string_view row) const {
    std::vector<std::optional<bool>> found(leaves_.size());
    JsonMembers::Scratch scratch;
    const auto compare = [&](size_t i, const Value& value) {
      found[i] = IsTrueFor(*leaves_[i], value);
      return !*found[i];
    };
    // A condition may be decided long before the end of a row. Checked at most 32 times, so that
    // many comparisons take linear time.
    size_t num_finished = 0;
    const auto is_undecided = [&](size_t) {
      if (++num_finished % (1 + leaves_.size() / 32) != 0) return true;
      const auto may_have = [&](bool if_open) {
        return HasOutcome(*root_, true, [&](const PredicateNode& leaf, bool outcome) {
          if (!IsJson(leaf)) return if_open;
          const size_t i = NumberOf(leaf);
          return scratch.is_done[i] == 0 ? if_open : Outcome(leaf, found[i]) == outcome;
        });
      };
      return may_have(true) && !may_have(false);
    };
    members_.Read(row, compare, &scratch, is_undecided);
    return found;
  }

  /// The number of a comparison with a JSON member.
  size_t NumberOf(const PredicateNode& leaf) const {
    return static_cast<size_t>(std::ranges::lower_bound(leaves_, &leaf, std::less<>()) -
                               leaves_.begin());
  }

 private:
  void Collect(const PredicateNode& node) {
    if (IsJson(node)) leaves_.push_back(&node);
    for (const PredicateNodePointer& child : node.children) Collect(*child);
  }

  const PredicateNode* root_ = nullptr;
  std::vector<const PredicateNode*> leaves_;  // in the order of addresses
  JsonMembers members_;                       // one column per leaf
};

// Whether the predicate is true for a row, by three-valued logic. `json` is Find(root).
static bool IsTrue(const PredicateNode& root, const JsonComparisons* json, const Row& row) {
  const auto has = [&](const PredicateNode& leaf, bool outcome) {
    return Outcome(leaf, FindInRow(leaf, row)) == outcome;
  };
  if (json == nullptr) return HasOutcome(root, true, has);
  std::vector<std::optional<bool>> found;  // once a comparison needs it
  return HasOutcome(root, true, [&](const PredicateNode& leaf, bool outcome) {
    if (!IsJson(leaf)) return has(leaf, outcome);
    if (found.empty()) found = json->Compare(row.value);
    return Outcome(leaf, found[json->NumberOf(leaf)]) == outcome;
  });
}

}  // namespace blocksieve::internal

namespace blocksieve {
namespace {

using internal::Literal;
using internal::PredicateNode;
using internal::PredicateNodePointer;

void CollectColumns(const PredicateNode& node, std::vector<Column>* columns) {
  if (node.column && std::find(columns->begin(), columns->end(), *node.column) == columns->end()) {
    columns->push_back(*node.column);
  }
  for (const PredicateNodePointer& child : node.children) CollectColumns(*child, columns);
}

}  // namespace

Predicate::Predicate(NodePointer node) : node_(std::move(node)) {
  std::vector<Column> columns;
  CollectColumns(*node_, &columns);
  columns_ = std::make_shared<const std::vector<Column>>(std::move(columns));
  json_ = internal::JsonComparisons::Find(*node_);
}

template <class MakeNode>
Result<Predicate> Predicate::Wrap(MakeNode make_node) try {
  BLOCKSIEVE_ASSIGN_OR_RETURN(NodePointer node, make_node());
  return Predicate(std::move(node));
}
BLOCKSIEVE_CATCH_BAD_ALLOC

Result<Predicate> Predicate::Parse(std::string_view text, std::span<const Column> columns,
                                   size_t* error_position) {
  return Wrap([&] { return internal::ParsePredicate(text, columns, error_position); });
}

Result<Query> Query::Parse(std::string_view text, std::span<const Column> columns,
                           size_t* error_position) try {
  Query query;
  BLOCKSIEVE_ASSIGN_OR_RETURN(PredicateNodePointer node,
                              internal::ParsePredicate(text, columns, error_position, &query));
  query.predicate = Predicate(std::move(node));
  return query;
}
BLOCKSIEVE_CATCH_BAD_ALLOC

Result<Predicate> Predicate::Compare(const Column& column, Comparison comparison,
                                     std::span<const Value> values) {
  return Wrap([&] {
    const bool is_text = comparison == Comparison::kLike || comparison == Comparison::kStartsWith;
    std::vector<Literal> literals;
    for (const Value& value : values) {
      literals.push_back(is_text ? Literal{false, value.ToText()} : Literal::FromValue(value));
    }
    return internal::MakeComparison(column, comparison, std::move(literals));
  });
}

Predicate Predicate::IsMissing(const Column& column) {
  // Cannot fail without a literal.
  return Predicate(*internal::MakeComparison(column, Comparison::kMissing, {}));
}

Predicate Predicate::Constant(bool is_true) { return Predicate(internal::MakeConstant(is_true)); }

Result<Predicate> Predicate::And(std::span<const Predicate> operands) {
  return Wrap([&] { return MakeCombination(PredicateNode::Kind::kAnd, CollectNodes(operands)); });
}

Result<Predicate> Predicate::Or(std::span<const Predicate> operands) {
  return Wrap([&] { return MakeCombination(PredicateNode::Kind::kOr, CollectNodes(operands)); });
}

std::vector<Predicate::NodePointer> Predicate::CollectNodes(std::span<const Predicate> operands) {
  std::vector<NodePointer> nodes;
  for (const Predicate& operand : operands) nodes.push_back(operand.node_);
  return nodes;
}

Result<Predicate> Predicate::Not(const Predicate& operand) {
  return Wrap([&] { return internal::MakeNot(operand.node_); });
}

std::string Predicate::ToText() const { return internal::PredicateText(*node_); }

std::string Predicate::ColumnText(const Column& column) {
  const std::string& name = column.name();
  return internal::IsPlainName(name) ? name : internal::Quoted(name, '"');
}

bool Predicate::Matches(const Row& row) const { return internal::IsTrue(*node_, json_.get(), row); }

}  // namespace blocksieve
