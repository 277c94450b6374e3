// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <compare>
#include <limits>
#include <string>
#include <utility>

#include "lib/base/errors.h"
#include "lib/column/definition.h"
#include "lib/column/sort_key.h"
#include "lib/column/tokens.h"
#include "lib/column/values.h"
#include "lib/predicate/lexer.h"
#include "lib/predicate/node.h"

// Makes leaves of comparisons: converts literals to the column's type and normalises operators, so
// that evaluation and pruning handle only sets of values, ranges and patterns.

namespace blocksieve::internal {
namespace {

template <class Integer>
LiteralBound BindInteger(std::string_view text, Value (*make)(Integer) noexcept) {
  constexpr uint64_t kMaxPositive = static_cast<uint64_t>(std::numeric_limits<Integer>::max());
  constexpr uint64_t kMaxNegative = std::numeric_limits<Integer>::is_signed ? kMaxPositive + 1 : 0;
  const LiteralBound above_all{make(std::numeric_limits<Integer>::max()), false};
  const LiteralBound below_all{std::nullopt, false};

  const std::optional<Decimal> number = Decimal::Parse(text);
  if (!number) return text.starts_with('-') ? below_all : above_all;  // infinities, NaN
  const std::optional<uint64_t> whole = number->IntegerPart();
  const bool has_fraction = number->HasFraction();
  if (!number->is_negative()) {
    if (!whole || *whole > kMaxPositive) return above_all;
    return {make(static_cast<Integer>(*whole)), !has_fraction};
  }
  if (!whole || *whole > kMaxNegative || (*whole == kMaxNegative && has_fraction)) return below_all;
  return {make(static_cast<Integer>(0 - *whole - (has_fraction ? 1 : 0))), !has_fraction};
}

// A column of 32 bits has no 1.1, but what 1.1 becomes in 32 bits, which is what people look for.
// In all comparisons, or `v = 1.1` and `v > 1.1` would both be true.
LiteralBound BindFloat(const Column& column, double number) {
  const ColumnDefinition& definition = column.definition();
  const bool is_narrow =
      definition.source == ColumnSource::kBinary && definition.width == sizeof(float);
  if (!is_narrow || !std::isfinite(number)) return {Value::Float(number), true};
  constexpr double kMax = std::numeric_limits<float>::max();
  if (number > kMax) return {Value::Float(kMax), false};
  if (number < -kMax) return {Value::Float(-std::numeric_limits<double>::infinity()), false};
  return {Value::Float(static_cast<double>(static_cast<float>(number))), true};
}

using Kind = PredicateNode::Kind;

/// An operator, and its negated form; empty: NOT before the column.
using Spelling = std::pair<std::string_view, std::string_view>;

Spelling Spell(Comparison comparison) noexcept {
  constexpr Spelling kSpellings[] = {
      {"=", "!="},
      {"IN", "NOT IN"},
      {"<", ""},
      {"<=", ""},
      {">", ""},
      {">=", ""},
      {"BETWEEN", "NOT BETWEEN"},
      {"LIKE", "NOT LIKE"},
      {"STARTSWITH", "NOT STARTSWITH"},
      {"HAS", "NOT HAS"},
      {"IS NULL", "IS NOT NULL"},
  };
  static_assert(std::size(kSpellings) == static_cast<size_t>(Comparison::kMissing) + 1);
  return kSpellings[static_cast<size_t>(comparison)];
}

void Print(Comparison comparison, PredicateNode* leaf) {
  std::string operands;
  for (const Literal& literal : leaf->literals) {
    if (!operands.empty()) operands += comparison == Comparison::kBetween ? " AND " : ", ";
    operands += literal.ToText();
  }
  if (comparison == Comparison::kIn) operands = "(" + operands + ")";
  if (!operands.empty()) operands.insert(0, " ");

  const std::string column = Predicate::ColumnText(*leaf->column);
  const auto [plain, negated] = Spell(comparison);
  leaf->text = column + " " + std::string(plain) + operands;
  leaf->negated_text =
      negated.empty() ? "NOT " + leaf->text : column + " " + std::string(negated) + operands;
}

Status SetValues(std::vector<Value> values, PredicateNode* leaf) {
  std::sort(values.begin(), values.end(), [](const Value& a, const Value& b) {
    return a.Compare(b) == std::strong_ordering::less;
  });
  values.erase(std::unique(values.begin(), values.end()), values.end());
  leaf->kind = Kind::kValues;
  leaf->values = std::move(values);
  return Status::Ok();
}

// The whole numbers of a range, ascending, if they are few: filters find these where bounds of a
// granule are wide, as in one that spans the ends of two series. Empty if they are many.
std::vector<Value> ListNumbers(const ValueRange& range) {
  constexpr uint64_t kFew = 16;
  if (!range.low || !range.high) return {};
  const ValueType type = range.low->type();
  if (type != ValueType::kInt && type != ValueType::kUint) return {};
  const bool is_int = type == ValueType::kInt;
  const uint64_t low = is_int ? static_cast<uint64_t>(range.low->as_int()) : range.low->as_uint();
  const uint64_t high =
      is_int ? static_cast<uint64_t>(range.high->as_int()) : range.high->as_uint();
  const uint64_t first = range.includes_low ? 0 : 1;
  const uint64_t end = high - low + (range.includes_high ? 1 : 0);  // wraps for all numbers
  if (high - low > kFew || end > kFew) return {};
  std::vector<Value> numbers;
  for (uint64_t i = first; i < end; ++i) {
    numbers.push_back(is_int ? Value::Int(static_cast<int64_t>(low + i)) : Value::Uint(low + i));
  }
  return numbers;
}

// Turns a range of at most one value into a set of values.
Status SetRange(ValueRange range, PredicateNode* leaf) {
  if (range.low && range.high) {
    const std::strong_ordering order = range.low->Compare(*range.high);
    const bool is_closed = range.includes_low && range.includes_high;
    if (order == std::strong_ordering::equal && is_closed) return SetValues({*range.low}, leaf);
    if (order != std::strong_ordering::less) return SetValues({}, leaf);
  }
  leaf->kind = Kind::kRange;
  leaf->range = range;
  leaf->values = ListNumbers(range);
  return Status::Ok();
}

void SetLow(const LiteralBound& bound, bool includes, ValueRange* range) {
  range->low = bound.at_or_below;
  range->includes_low = includes && bound.is_exact;
}

void SetHigh(const LiteralBound& bound, bool includes, ValueRange* range) {
  range->high = bound.at_or_below;
  range->includes_high = includes || !bound.is_exact;
}

Status SetPattern(Pattern pattern, PredicateNode* leaf) {
  leaf->kind = Kind::kPattern;
  leaf->pattern = std::move(pattern);
  if (leaf->column->has_tokens()) return Status::Ok();

  const std::string_view prefix = leaf->pattern->prefix();
  if (leaf->pattern->IsEqual()) return SetValues({Value::Bytes(prefix)}, leaf);
  if (!prefix.empty()) leaf->range.low = Value::Bytes(prefix);
  if (std::optional<std::string> next = PrefixSuccessor(prefix)) {
    leaf->upper_bound = *std::move(next);
    leaf->range.high = Value::Bytes(leaf->upper_bound);
    leaf->range.includes_high = false;
  }
  if (leaf->pattern->IsPrefix()) leaf->kind = Kind::kRange;
  return Status::Ok();
}

Status SetHas(const Column& column, const LiteralBound& bound, PredicateNode* leaf) {
  const std::string& needle = leaf->literals[0].text;
  switch (column.definition().tokeniser) {
    case Tokeniser::kNgrams:
      return SetPattern(Pattern::Contains(needle), leaf);
    case Tokeniser::kWords:
      leaf->kind = Kind::kWord;
      if (!ForEachWord(needle, [&](std::string_view word) { return word != needle; })) {
        return Status::Ok();
      }
      return Status::InvalidArgument(
          "HAS in column '" + column.name() +
          "', which is indexed by words, needs a single word of letters and digits, not " +
          Shown(leaf->literals[0].ToText()));
    case Tokeniser::kNone:
      break;
  }
  return SetValues(bound.is_exact ? std::vector{*bound.at_or_below} : std::vector<Value>{}, leaf);
}

Status SetText(const Column& column, Comparison comparison, PredicateNode* leaf) {
  const std::string& text = leaf->literals[0].text;
  if (column.type() != ValueType::kBytes) {
    return Status::InvalidArgument(
        "column '" + column.name() + "' is " + std::string(ValueTypeName(column.type())) +
        ", but " + std::string(Spell(comparison).first) + " needs a column of bytes");
  }
  if (comparison == Comparison::kStartsWith) return SetPattern(Pattern::Prefix(text), leaf);
  std::optional<Pattern> pattern = Pattern::Like(text);
  if (!pattern) {
    return Status::InvalidArgument("the pattern " + Shown(leaf->literals[0].ToText()) +
                                   " ends in a single backslash; write two to match one");
  }
  return SetPattern(*std::move(pattern), leaf);
}

// Sets the leaf's kind and its values, range or pattern from its literals.
Status SetOperands(const Column& column, Comparison comparison, PredicateNode* leaf) {
  if (comparison == Comparison::kLike || comparison == Comparison::kStartsWith) {
    return SetText(column, comparison, leaf);
  }
  std::vector<LiteralBound> bounds;
  for (const Literal& literal : leaf->literals) {
    BLOCKSIEVE_ASSIGN_OR_RETURN(LiteralBound bound, BindLiteral(column, literal));
    bounds.push_back(bound);
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
      return SetValues(std::move(values), leaf);
    }
    case Comparison::kGreater:
    case Comparison::kGreaterOrEqual:
      SetLow(bounds[0], comparison == Comparison::kGreaterOrEqual, &range);
      break;
    case Comparison::kBetween:
      SetLow(bounds[0], true, &range);
      [[fallthrough]];
    default:
      // Without an upper bound, the range would be unbounded.
      if (!bounds.back().at_or_below) return SetValues({}, leaf);
      SetHigh(bounds.back(), comparison != Comparison::kLess, &range);
  }
  return SetRange(range, leaf);
}

}  // namespace

Literal Literal::FromValue(const Value& value) {
  Literal literal{value.type() != ValueType::kBytes, value.ToText()};
  // The shortest text that parses to the same double may be another integer.
  constexpr double kTwoTo53 = 9007199254740992.0;
  constexpr double kBeyondIntegers = 1e20;
  if (value.type() == ValueType::kFloat && std::abs(value.as_float()) > kTwoTo53 &&
      std::abs(value.as_float()) < kBeyondIntegers) {
    std::array<char, 32> text;
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value.as_float(),
                                   std::chars_format::fixed, 0);
    literal.text.assign(text.data(), end.ptr);
  }
  // The sign of a NaN is irrelevant.
  if (value.type() == ValueType::kFloat && std::isnan(value.as_float())) literal.text = "nan";
  return literal;
}

std::string Literal::ToText() const { return is_number ? text : Quoted(text, '\''); }

std::string Quoted(std::string_view text, char quote) {
  std::string quoted(1, quote);
  for (const char c : text) quoted.append(c == quote ? 2 : 1, c);
  quoted.push_back(quote);
  return quoted;
}

Result<LiteralBound> BindLiteral(const Column& column, const Literal& literal) {
  const bool wants_number = column.type() != ValueType::kBytes;
  bool is_number = literal.is_number;
  if (wants_number && !is_number) {
    // Without quotes, it may be a number in a predicate.
    const Token token = NextToken(literal.text, 0);
    is_number = token.IsNumber() && token.source == literal.text;
  }
  if (is_number != wants_number) {
    return Status::InvalidArgument(
        "column '" + column.name() + "' is " + std::string(ValueTypeName(column.type())) +
        " and cannot be compared with the " +
        (literal.is_number ? "number " + Shown(literal.ToText()) + "; in single quotes it is text"
                           : "string " + Shown(literal.ToText())));
  }
  switch (column.type()) {
    case ValueType::kInt:
      return BindInteger<int64_t>(literal.text, Value::Int);
    case ValueType::kUint:
      return BindInteger<uint64_t>(literal.text, Value::Uint);
    case ValueType::kFloat: {
      std::string_view text = literal.text;
      if (text.starts_with('+')) text.remove_prefix(1);
      return BindFloat(column, ParseFloat(text).value_or(0));
    }
    case ValueType::kBytes:
      break;
  }
  return LiteralBound{Value::Bytes(literal.text), true};
}

Result<PredicateNodePointer> MakeComparison(const Column& column, Comparison comparison,
                                            std::vector<Literal> literals) {
  const size_t count = comparison == Comparison::kMissing   ? 0
                       : comparison == Comparison::kBetween ? 2
                                                            : 1;
  if (comparison == Comparison::kIn ? literals.empty() : literals.size() != count) {
    return Status::InvalidArgument(
        "number of values is " + std::to_string(literals.size()) +
        "; allowed: 0 to IS MISSING, 2 to BETWEEN, 1 or more to IN, else 1");
  }
  auto leaf = std::make_shared<PredicateNode>();
  if (column.definition().is_folded) {
    // Of patterns, too: no character is folded to or from a wildcard or a backslash.
    for (Literal& literal : literals) Fold(std::string(literal.text), &literal.text);
  }
  leaf->column = column;
  leaf->comparison = comparison;
  leaf->literals = std::move(literals);
  Print(comparison, leaf.get());
  if (comparison == Comparison::kMissing) {
    leaf->kind = Kind::kMissing;
  } else {
    BLOCKSIEVE_RETURN_IF_ERROR(SetOperands(column, comparison, leaf.get()));
  }
  PlanPruning(leaf.get());
  return PredicateNodePointer(std::move(leaf));
}

}  // namespace blocksieve::internal
