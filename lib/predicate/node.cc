#include "lib/predicate/node.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "blocksieve/predicate.h"

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

// Parentheses around what binds less than `kind`.
std::string OperandText(const PredicateNode& operand, Kind kind) {
  const bool binds_more = operand.IsLeaf() || operand.kind == Kind::kNot ||
                          (operand.kind == Kind::kAnd && kind == Kind::kOr);
  const std::string text = PredicateText(operand);
  return binds_more ? text : "(" + text + ")";
}

}  // namespace

PredicateNodePointer MakeConstant(bool is_true) {
  auto leaf = std::make_shared<PredicateNode>();
  leaf->kind = Kind::kConstant;
  leaf->constant = is_true;
  leaf->text = is_true ? "TRUE" : "FALSE";
  leaf->negated_text = "NOT " + leaf->text;
  PlanSkipping(leaf.get());
  return leaf;
}

Result<PredicateNodePointer> MakeCombination(Kind kind,
                                             std::vector<PredicateNodePointer> operands) {
  if (operands.empty()) return MakeConstant(kind == Kind::kAnd);
  std::vector<PredicateNodePointer> children;
  for (PredicateNodePointer& operand : operands) {
    if (operand->kind == kind) {
      std::copy(operand->children.begin(), operand->children.end(), std::back_inserter(children));
    } else {
      children.push_back(std::move(operand));
    }
  }
  if (children.size() == 1) return std::move(children[0]);
  return MakeInner(kind, std::move(children));
}

Result<PredicateNodePointer> MakeNot(PredicateNodePointer operand) {
  if (operand->kind == Kind::kNot) return operand->children[0];  // also of unknown
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
