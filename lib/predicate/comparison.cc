#include <algorithm>
#include <compare>
#include <string>
#include <utility>

#include "lib/column/tokens.h"
#include "lib/predicate/lexer.h"
#include "lib/predicate/node.h"

// Leaves out of comparisons: settles types and spellings, so that one value set, one range or one
// pattern is all that rows and indexes are asked for.

namespace blocksieve::internal {
namespace {

using Kind = PredicateNode::Kind;

struct Spelling {
  std::string_view plain;
  std::string_view negated;  // empty: NOT before the column
};

Spelling SpellingOf(Comparison comparison) noexcept {
  switch (comparison) {
    case Comparison::kEqual:
      return {"=", "!="};
    case Comparison::kIn:
      return {"IN", "NOT IN"};
    case Comparison::kLess:
      return {"<", ""};
    case Comparison::kLessOrEqual:
      return {"<=", ""};
    case Comparison::kGreater:
      return {">", ""};
    case Comparison::kGreaterOrEqual:
      return {">=", ""};
    case Comparison::kBetween:
      return {"BETWEEN", "NOT BETWEEN"};
    case Comparison::kLike:
      return {"LIKE", "NOT LIKE"};
    case Comparison::kStartsWith:
      return {"STARTSWITH", "NOT STARTSWITH"};
    case Comparison::kHas:
      return {"HAS", "NOT HAS"};
    case Comparison::kMissing:
      return {"IS NULL", "IS NOT NULL"};
  }
  return {};
}

void Print(Comparison comparison, PredicateNode* leaf) {
  std::string operands;
  for (const Literal& literal : leaf->literals) {
    if (!operands.empty()) operands += comparison == Comparison::kBetween ? " AND " : ", ";
    operands += literal.ToText();
  }
  if (comparison == Comparison::kIn) operands = "(" + operands + ")";
  if (!operands.empty()) operands.insert(0, " ");

  const std::string& name = leaf->column->name();
  const std::string column = IsPlainName(name) ? name : Quoted(name, '"');
  const auto [plain, negated] = SpellingOf(comparison);
  leaf->text = column + " " + std::string(plain) + operands;
  leaf->negated_text =
      negated.empty() ? "NOT " + leaf->text : column + " " + std::string(negated) + operands;
}

void SetValues(std::vector<Value> values, PredicateNode* leaf) {
  std::sort(values.begin(), values.end(), [](const Value& a, const Value& b) {
    return a.Compare(b) == std::strong_ordering::less;
  });
  values.erase(std::unique(values.begin(), values.end()), values.end());
  leaf->kind = Kind::kValues;
  leaf->values = std::move(values);
}

// Takes a range of one value or none for what it is.
void SetRange(ValueRange range, PredicateNode* leaf) {
  if (range.low && range.high) {
    const std::strong_ordering order = range.low->Compare(*range.high);
    const bool is_closed = range.includes_low && range.includes_high;
    if (order == std::strong_ordering::equal && is_closed) return SetValues({*range.low}, leaf);
    if (order != std::strong_ordering::less) return SetValues({}, leaf);
  }
  leaf->kind = Kind::kRange;
  leaf->range = range;
}

void SetLow(const LiteralBound& bound, bool includes, ValueRange* range) {
  range->low = bound.at_or_below;
  range->includes_low = includes && bound.is_exact;
}

void SetHigh(const LiteralBound& bound, bool includes, ValueRange* range) {
  range->high = bound.at_or_below;
  range->includes_high = includes || !bound.is_exact;
}

// The least text above all that begin with `prefix`; none if there is none.
std::optional<std::string> AfterPrefix(std::string_view prefix) {
  while (prefix.ends_with('\xff')) prefix.remove_suffix(1);
  if (prefix.empty()) return std::nullopt;
  std::string next(prefix);
  next.back() = static_cast<char>(static_cast<uint8_t>(next.back()) + 1);
  return next;
}

void SetPattern(Pattern pattern, PredicateNode* leaf) {
  leaf->kind = Kind::kPattern;
  leaf->pattern = std::move(pattern);
  if (leaf->column->tokeniser() != Tokeniser::kNone) return;

  const std::string_view prefix = leaf->pattern->prefix();
  if (leaf->pattern->IsEqual()) return SetValues({Value::Bytes(prefix)}, leaf);
  if (!prefix.empty()) leaf->range.low = Value::Bytes(prefix);
  if (std::optional<std::string> next = AfterPrefix(prefix)) {
    leaf->upper_bound = *std::move(next);
    leaf->range.high = Value::Bytes(leaf->upper_bound);
    leaf->range.includes_high = false;
  }
  if (leaf->pattern->IsPrefix()) leaf->kind = Kind::kRange;
}

Status SetHas(const Column& column, const LiteralBound& bound, PredicateNode* leaf) {
  const std::string& needle = leaf->literals[0].text;
  switch (column.tokeniser()) {
    case Tokeniser::kNgrams:
      SetPattern(Pattern::Contains(needle), leaf);
      return Status::Ok();
    case Tokeniser::kWords:
      leaf->kind = Kind::kWord;
      if (!needle.empty() && std::all_of(needle.begin(), needle.end(), IsWordByte)) {
        return Status::Ok();
      }
      return Status::InvalidArgument("column '" + column.name() + "' has words, and " +
                                     leaf->literals[0].ToText() +
                                     " is not one word of letters and digits");
    case Tokeniser::kNone:
      break;
  }
  SetValues(bound.is_exact ? std::vector{*bound.at_or_below} : std::vector<Value>{}, leaf);
  return Status::Ok();
}

Status SetText(const Column& column, Comparison comparison, PredicateNode* leaf) {
  const std::string& text = leaf->literals[0].text;
  if (column.type() != ValueType::kBytes) {
    return Status::InvalidArgument(
        "column '" + column.name() + "' is " + std::string(ValueTypeName(column.type())) + "; " +
        std::string(SpellingOf(comparison).plain) + " is for columns of bytes");
  }
  if (comparison == Comparison::kStartsWith) {
    SetPattern(Pattern::Prefix(text), leaf);
    return Status::Ok();
  }
  std::optional<Pattern> pattern = Pattern::Like(text);
  if (!pattern) {
    return Status::InvalidArgument("the pattern " + leaf->literals[0].ToText() +
                                   " ends in a single backslash; write two for one");
  }
  SetPattern(*std::move(pattern), leaf);
  return Status::Ok();
}

// Fills in what is compared. REQUIRES: the leaf's literals.
Status Settle(const Column& column, Comparison comparison, PredicateNode* leaf) {
  if (comparison == Comparison::kLike || comparison == Comparison::kStartsWith) {
    return SetText(column, comparison, leaf);
  }
  std::vector<LiteralBound> bounds;
  for (const Literal& literal : leaf->literals) {
    Result<LiteralBound> bound = BindLiteral(column, literal);
    if (!bound.ok()) return bound.status();
    bounds.push_back(*bound);
  }
  if (comparison == Comparison::kHas) return SetHas(column, bounds[0], leaf);

  ValueRange range;
  switch (comparison) {
    case Comparison::kEqual:
    case Comparison::kIn: {
      std::vector<Value> values;
      for (const LiteralBound& bound : bounds) {
        if (bound.is_exact) values.push_back(*bound.at_or_below);
      }
      SetValues(std::move(values), leaf);
      return Status::Ok();
    }
    case Comparison::kGreater:
    case Comparison::kGreaterOrEqual:
      SetLow(bounds[0], comparison == Comparison::kGreaterOrEqual, &range);
      break;
    case Comparison::kBetween:
      SetLow(bounds[0], true, &range);
      [[fallthrough]];
    default:
      // Without a value, the range would go on to the greatest.
      if (!bounds.back().at_or_below) {
        SetValues({}, leaf);
        return Status::Ok();
      }
      SetHigh(bounds.back(), comparison != Comparison::kLess, &range);
  }
  SetRange(range, leaf);
  return Status::Ok();
}

}  // namespace

Result<PredicateNodePointer> MakeComparison(const Column& column, Comparison comparison,
                                            std::vector<Literal> literals) {
  auto leaf = std::make_shared<PredicateNode>();
  leaf->column = column;
  leaf->literals = std::move(literals);
  Print(comparison, leaf.get());
  if (comparison == Comparison::kMissing) {
    leaf->kind = Kind::kMissing;
  } else {
    Status status = Settle(column, comparison, leaf.get());
    if (!status.ok()) return status;
  }
  PlanSkipping(leaf.get());
  return PredicateNodePointer(std::move(leaf));
}

}  // namespace blocksieve::internal
