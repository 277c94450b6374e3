#include "blocksieve/predicate.h"

#include <algorithm>

#include "lib/base/errors.h"
#include "lib/predicate/lexer.h"
#include "lib/predicate/node.h"

namespace blocksieve {
namespace {

using internal::Comparison;
using internal::Literal;
using internal::PredicateNode;
using internal::PredicateNodePointer;

void CollectColumns(const PredicateNode& node, std::vector<Column>* columns) {
  if (node.column && std::find(columns->begin(), columns->end(), *node.column) == columns->end()) {
    columns->push_back(*node.column);
  }
  for (const PredicateNodePointer& child : node.children) CollectColumns(*child, columns);
}

Result<PredicateNodePointer> Compare(const Column& column, Comparison comparison,
                                     std::span<const Value> values) {
  std::vector<Literal> literals;
  for (const Value& value : values) literals.push_back(Literal::FromValue(value));
  return MakeComparison(column, comparison, std::move(literals));
}

Result<PredicateNodePointer> Compare(const Column& column, Comparison comparison,
                                     const Value& value) {
  return Compare(column, comparison, std::span(&value, 1));
}

}  // namespace

Predicate::Predicate(NodePointer node) : node_(std::move(node)) {
  CollectColumns(*node_, &columns_);
}

template <class MakeNode>
Result<Predicate> Predicate::Wrap(MakeNode make_node) try {
  Result<NodePointer> node = make_node();
  if (!node.ok()) return node.status();
  return Predicate(*std::move(node));
} catch (const std::bad_alloc&) {
  return internal::OutOfMemory();
}

Result<Predicate> Predicate::Parse(std::string_view text, std::span<const Column> columns,
                                   size_t* error_position) {
  return Wrap([&] { return internal::ParsePredicate(text, columns, error_position); });
}

Result<Query> Query::Parse(std::string_view text, std::span<const Column> columns,
                           size_t* error_position) try {
  Result<internal::ParsedQuery> parsed = internal::ParseQuery(text, columns, error_position);
  if (!parsed.ok()) return parsed.status();
  Query query;
  query.predicate = Predicate(std::move(parsed->node));
  query.order = std::move(parsed->order);
  query.limit = parsed->limit;
  return query;
} catch (const std::bad_alloc&) {
  return internal::OutOfMemory();
}

Result<Predicate> Predicate::Equals(const Column& column, const Value& value) {
  return Wrap([&] { return Compare(column, Comparison::kEqual, value); });
}

Result<Predicate> Predicate::NotEquals(const Column& column, const Value& value) {
  Result<Predicate> equals = Equals(column, value);
  if (!equals.ok()) return equals;
  return Not(*equals);
}

Result<Predicate> Predicate::Less(const Column& column, const Value& value) {
  return Wrap([&] { return Compare(column, Comparison::kLess, value); });
}

Result<Predicate> Predicate::LessOrEqual(const Column& column, const Value& value) {
  return Wrap([&] { return Compare(column, Comparison::kLessOrEqual, value); });
}

Result<Predicate> Predicate::Greater(const Column& column, const Value& value) {
  return Wrap([&] { return Compare(column, Comparison::kGreater, value); });
}

Result<Predicate> Predicate::GreaterOrEqual(const Column& column, const Value& value) {
  return Wrap([&] { return Compare(column, Comparison::kGreaterOrEqual, value); });
}

Result<Predicate> Predicate::Between(const Column& column, const Value& low, const Value& high) {
  const Value bounds[] = {low, high};
  return Wrap([&] { return Compare(column, Comparison::kBetween, bounds); });
}

Result<Predicate> Predicate::In(const Column& column, std::span<const Value> values) {
  return Wrap([&]() -> Result<NodePointer> {
    if (values.empty()) return Status::InvalidArgument("IN needs at least one value");
    return Compare(column, Comparison::kIn, values);
  });
}

Result<Predicate> Predicate::Like(const Column& column, std::string_view pattern) {
  return Wrap(
      [&] { return MakeComparison(column, Comparison::kLike, {Literal::String(pattern)}); });
}

Result<Predicate> Predicate::StartsWith(const Column& column, std::string_view prefix) {
  return Wrap(
      [&] { return MakeComparison(column, Comparison::kStartsWith, {Literal::String(prefix)}); });
}

Result<Predicate> Predicate::Has(const Column& column, const Value& value) {
  return Wrap([&] { return Compare(column, Comparison::kHas, value); });
}

Predicate Predicate::IsMissing(const Column& column) {
  // Cannot fail without a literal.
  return Predicate(*MakeComparison(column, Comparison::kMissing, {}));
}

Predicate Predicate::Constant(bool is_true) { return Predicate(internal::MakeConstant(is_true)); }

Result<Predicate> Predicate::And(std::span<const Predicate> operands) {
  return Wrap([&] { return MakeCombination(PredicateNode::Kind::kAnd, NodesOf(operands)); });
}

Result<Predicate> Predicate::Or(std::span<const Predicate> operands) {
  return Wrap([&] { return MakeCombination(PredicateNode::Kind::kOr, NodesOf(operands)); });
}

std::vector<Predicate::NodePointer> Predicate::NodesOf(std::span<const Predicate> operands) {
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

bool Predicate::Matches(std::string_view row) const {
  return internal::Evaluate(*node_, row) == internal::Truth::kTrue;
}

}  // namespace blocksieve
