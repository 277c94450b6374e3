// SPDX-License-Identifier: Apache-2.0
#include "lib/predicate/node.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <utility>

#include "lib/base/errors.h"
#include "lib/column/definition.h"

namespace blocksieve::internal {
namespace {

using Kind = PredicateNode::Kind;

Result<PredicateNodePointer> MakeInner(Kind kind, std::vector<PredicateNodePointer> children) {
  auto node = std::make_shared<PredicateNode>();
  node->kind = kind;
  for (const PredicateNodePointer& child : children) {
    node->depth = std::max(node->depth, child->depth + 1);
  }
  if (node->depth > Predicate::kMaxDepth) {
    return Status::InvalidArgument("AND, OR and NOT are nested deeper than " +
                                   std::to_string(Predicate::kMaxDepth) + " levels");
  }
  node->children = std::move(children);
  return PredicateNodePointer(std::move(node));
}

// In parentheses if the operand binds more loosely than `kind`.
std::string OperandText(const PredicateNode& operand, Kind kind) {
  const bool binds_more = operand.IsLeaf() || operand.kind == Kind::kNot ||
                          (operand.kind == Kind::kAnd && kind == Kind::kOr);
  const std::string text = PredicateText(operand);
  return binds_more ? text : "(" + text + ")";
}

// The leaf whose values `operand` can share with others of its column: `=` or IN below an OR, their
// negation below an AND. Null for other operands.
const PredicateNode* FindValues(const PredicateNode& operand, Kind kind) {
  if (kind == Kind::kAnd && operand.kind != Kind::kNot) return nullptr;
  const PredicateNode& leaf = kind == Kind::kAnd ? *operand.children[0] : operand;
  const bool has_values = leaf.IsLeaf() && (leaf.comparison == Comparison::kEqual ||
                                            leaf.comparison == Comparison::kIn);
  return has_values ? &leaf : nullptr;
}

// Whether the operand is a range of whole numbers with one end. Not of an array, JSON's included,
// where one element may satisfy one comparison and another one the other.
bool IsHalfRange(const PredicateNode& operand) {
  if (operand.kind != Kind::kRange) return false;
  const ValueRange& range = operand.range;
  if (range.low.has_value() == range.high.has_value()) return false;
  const ColumnDefinition& definition = operand.column->definition();
  const bool is_whole = definition.type == ValueType::kInt || definition.type == ValueType::kUint;
  return is_whole && !definition.element_delimiter && definition.source != ColumnSource::kJson;
}

// `a >= 2 AND a < 9`, of two half ranges of a column, as `a BETWEEN 2 AND 8`, which may ask filters
// for each number. Null for two with the same end, and beyond the first or last number of the type.
Result<PredicateNodePointer> MakeBetween(const PredicateNode& a, const PredicateNode& b) {
  const ValueRange& low = a.range.low ? a.range : b.range;
  const ValueRange& high = a.range.low ? b.range : a.range;
  if (!low.low || !high.high) return PredicateNodePointer();
  const auto closed = [](const Value& value, bool is_included, uint64_t step) {
    if (is_included) return value;
    return value.type() == ValueType::kUint
               ? Value::Uint(value.as_uint() + step)
               : Value::Int(static_cast<int64_t>(static_cast<uint64_t>(value.as_int()) + step));
  };
  const Value first = closed(*low.low, low.includes_low, 1);
  const Value last = closed(*high.high, high.includes_high, ~uint64_t{0});  // one less
  if (first.Compare(*low.low) < 0 || last.Compare(*high.high) > 0) return PredicateNodePointer();
  return MakeComparison(*a.column, Comparison::kBetween,
                        {Literal::FromValue(first), Literal::FromValue(last)});
}

// Turns `a = 1 OR a = 2` into `a IN (1, 2)` and `a != 1 AND a != 2` into `a NOT IN (1, 2)`, in the
// place of the first, so that the index is probed once for all values of a column. Likewise, two
// half ranges below an AND become BETWEEN.
Result<std::vector<PredicateNodePointer>> UniteValues(Kind kind,
                                                      std::vector<PredicateNodePointer> operands) {
  std::vector<PredicateNodePointer> united;
  std::vector<std::pair<size_t, std::vector<Literal>>> lists;  // of each column; of two on
  std::vector<size_t> halves;                                  // the first of each column
  for (PredicateNodePointer& operand : operands) {
    if (kind == Kind::kAnd && IsHalfRange(*operand)) {
      const auto half = std::ranges::find_if(
          halves, [&](size_t i) { return united[i]->column == operand->column; });
      if (half == halves.end()) {
        halves.push_back(united.size());
      } else if (IsHalfRange(*united[*half])) {
        BLOCKSIEVE_ASSIGN_OR_RETURN(PredicateNodePointer between,
                                    MakeBetween(*united[*half], *operand));
        if (between) {
          united[*half] = std::move(between);
          continue;
        }
      }
    }
    const PredicateNode* const leaf = FindValues(*operand, kind);
    const auto list = std::find_if(
        lists.begin(), leaf == nullptr ? lists.begin() : lists.end(), [&](const auto& one) {
          return FindValues(*united[one.first], kind)->column == leaf->column;
        });
    if (leaf == nullptr || list == lists.end()) {
      if (leaf != nullptr) lists.push_back({united.size(), {}});
      united.push_back(std::move(operand));
      continue;
    }
    auto& [first, literals] = *list;
    if (literals.empty()) literals = FindValues(*united[first], kind)->literals;
    literals.insert(literals.end(), leaf->literals.begin(), leaf->literals.end());
  }
  for (auto& [first, literals] : lists) {
    if (literals.empty()) continue;
    const Column column = *FindValues(*united[first], kind)->column;
    BLOCKSIEVE_ASSIGN_OR_RETURN(united[first],
                                MakeComparison(column, Comparison::kIn, std::move(literals)));
    if (kind == Kind::kOr) continue;
    BLOCKSIEVE_ASSIGN_OR_RETURN(united[first], MakeNot(united[first]));
  }
  return united;
}

}  // namespace

PredicateNodePointer MakeConstant(bool is_true) {
  auto leaf = std::make_shared<PredicateNode>();
  leaf->kind = Kind::kConstant;
  leaf->constant = is_true;
  leaf->text = is_true ? "TRUE" : "FALSE";
  leaf->negated_text = "NOT " + leaf->text;
  PlanPruning(leaf.get());
  return leaf;
}

Result<PredicateNodePointer> MakeCombination(Kind kind,
                                             std::vector<PredicateNodePointer> operands) {
  assert(kind == Kind::kAnd || kind == Kind::kOr);
  if (operands.empty()) return MakeConstant(kind == Kind::kAnd);
  std::vector<PredicateNodePointer> children;
  for (PredicateNodePointer& operand : operands) {
    if (operand->kind == kind) {
      std::copy(operand->children.begin(), operand->children.end(), std::back_inserter(children));
    } else {
      children.push_back(std::move(operand));
    }
  }
  BLOCKSIEVE_ASSIGN_OR_RETURN(children, UniteValues(kind, std::move(children)));
  if (children.size() == 1) return std::move(children[0]);
  return MakeInner(kind, std::move(children));
}

Result<PredicateNodePointer> MakeNot(PredicateNodePointer operand) {
  if (operand->kind == Kind::kNot) return operand->children[0];  // correct for unknown, too
  return MakeInner(Kind::kNot, {std::move(operand)});
}

std::string PredicateText(const PredicateNode& node) {
  if (node.IsLeaf()) return node.text;
  if (node.kind == Kind::kNot) {
    const PredicateNode& operand = *node.children[0];
    return operand.IsLeaf() ? operand.negated_text : "NOT (" + PredicateText(operand) + ")";
  }
  std::string text;
  for (const PredicateNodePointer& child : node.children) {
    if (!text.empty()) text += node.kind == Kind::kAnd ? " AND " : " OR ";
    text += OperandText(*child, node.kind);
  }
  return text;
}

}  // namespace blocksieve::internal
