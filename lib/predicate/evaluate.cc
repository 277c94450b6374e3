#include <algorithm>
#include <compare>

#include "lib/column/tokens.h"
#include "lib/predicate/node.h"

// The re-check of a row.

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

bool HasWord(std::string_view text, std::string_view word) {
  return !ForEachWord(text, [&](std::string_view token) { return token != word; });
}

bool IsTrueOf(const PredicateNode& leaf, const Value& value) {
  switch (leaf.kind) {
    case Kind::kValues:
      return Contains(leaf.values, value);
    case Kind::kRange:
      return IsWithin(leaf.range, value);
    case Kind::kPattern:
      return leaf.pattern->Matches(value.bytes());
    case Kind::kWord:
      return HasWord(value.bytes(), leaf.literals[0].text);
    default:
      return true;
  }
}

Truth EvaluateLeaf(const PredicateNode& leaf, std::string_view row) {
  if (leaf.kind == Kind::kConstant) return leaf.constant ? Truth::kTrue : Truth::kFalse;
  const bool is_missing_asked = leaf.kind == Kind::kMissing;
  bool is_true = false;
  const bool has_column = leaf.column->ForEachCompared(row, [&](const Value& value) {
    is_true = IsTrueOf(leaf, value);
    return !is_true;
  });
  if (is_missing_asked) return has_column ? Truth::kFalse : Truth::kTrue;
  if (!has_column) return Truth::kUnknown;
  return is_true ? Truth::kTrue : Truth::kFalse;
}

}  // namespace

Truth Evaluate(const PredicateNode& node, std::string_view row) {
  if (node.IsLeaf()) return EvaluateLeaf(node, row);
  if (node.kind == Kind::kNot) {
    const Truth operand = Evaluate(*node.children[0], row);
    return static_cast<Truth>(static_cast<uint8_t>(Truth::kTrue) - static_cast<uint8_t>(operand));
  }
  const Truth settled = node.kind == Kind::kAnd ? Truth::kFalse : Truth::kTrue;
  Truth result = node.kind == Kind::kAnd ? Truth::kTrue : Truth::kFalse;
  for (const PredicateNodePointer& child : node.children) {
    const Truth truth = Evaluate(*child, row);
    if (truth == settled) return settled;
    if (truth == Truth::kUnknown) result = truth;
  }
  return result;
}

}  // namespace blocksieve::internal
