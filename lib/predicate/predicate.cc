// SPDX-License-Identifier: Apache-2.0
#include "blocksieve/predicate.h"

#include <algorithm>

#include "lib/base/errors.h"
#include "lib/predicate/evaluation.h"
#include "lib/predicate/lexer.h"
#include "lib/predicate/node.h"

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
