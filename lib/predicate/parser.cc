// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>
#include <vector>

#include "blocksieve/predicate.h"
#include "lib/base/errors.h"
#include "lib/column/values.h"
#include "lib/predicate/lexer.h"
#include "lib/predicate/node.h"

namespace blocksieve::internal {
namespace {

using Kind = PredicateNode::Kind;

constexpr std::pair<std::string_view, Comparison> kSymbols[] = {
    {"=", Comparison::kEqual},   {"==", Comparison::kEqual},
    {"<", Comparison::kLess},    {"<=", Comparison::kLessOrEqual},
    {">", Comparison::kGreater}, {">=", Comparison::kGreaterOrEqual},
};

// Recursive descent with one token of look-ahead. Functions return null after an error; the first
// error is kept.
class Parser {
 public:
  Parser(std::string_view text, std::span<const Column> columns) : text_(text), columns_(columns) {
    Advance();
  }

  /// A condition; with `query`, also an order and a limit, each optional.
  Result<PredicateNodePointer> Parse(Query* query) {
    const bool is_order_only = query != nullptr && (IsOrder() || IsLimit());
    PredicateNodePointer node = is_order_only ? MakeConstant(true) : ParseOr();
    if (!node || (query != nullptr && !(ParseOrder(query) && ParseLimit(query)))) return error_;
    if (token_.kind == Token::Kind::kEnd) return node;
    Expected(query == nullptr    ? "AND, OR or the end"
             : query->limit != 0 ? "the end"
             : query->order      ? "LIMIT"
                                 : "AND, OR, ORDER BY, LIMIT or the end");
    return error_;
  }

  size_t error_position() const noexcept { return error_position_; }

 private:
  // A column may be named `order`, but BY is no operator.
  bool IsOrder() const { return token_.Is("ORDER") && NextToken(text_, next_).Is("BY"); }

  // A column may be named `limit`, but no number follows a column.
  bool IsLimit() const {
    return token_.Is("LIMIT") && NextToken(text_, next_).kind == Token::Kind::kNumber;
  }

  bool ParseOrder(Query* query) {
    if (!IsOrder()) return true;
    Advance();
    Advance();
    const size_t position = token_.position;
    const Column* const column = ParseColumn();
    if (column == nullptr) return false;
    if (column->has_tokens()) {
      return Fail(position, "column '" + column->name() +
                                "' is indexed by tokens, which have no order") != nullptr;
    }
    query->order = ScanOrder{*column, Accept("DESC")};
    if (!query->order->is_descending) Accept("ASC");
    return token_.Is("LIMIT") || Expected("LIMIT, which ORDER BY requires") != nullptr;
  }

  bool ParseLimit(Query* query) {
    if (!Accept("LIMIT")) return true;
    const std::optional<Decimal> number =
        token_.kind == Token::Kind::kNumber ? Decimal::Parse(token_.text) : std::nullopt;
    if (!number || number->is_negative() || number->HasFraction() || !number->IntegerPart() ||
        *number->IntegerPart() == 0) {
      return Expected("a number of rows, 1 or more") != nullptr;
    }
    query->limit = *number->IntegerPart();
    Advance();
    return true;
  }

  PredicateNodePointer ParseOr() {
    return ParseOperands(Kind::kOr, "OR", [this] { return ParseAnd(); });
  }

  PredicateNodePointer ParseAnd() {
    return ParseOperands(Kind::kAnd, "AND", [this] { return ParseNot(); });
  }

  template <class ParseOperand>
  PredicateNodePointer ParseOperands(Kind kind, std::string_view keyword,
                                     const ParseOperand& parse_operand) {
    const size_t position = token_.position;
    std::vector<PredicateNodePointer> operands;
    do {
      operands.push_back(parse_operand());
      if (!operands.back()) return nullptr;
    } while (Accept(keyword));
    return Check(MakeCombination(kind, std::move(operands)), position);
  }

  PredicateNodePointer ParseNot() {
    const size_t position = token_.position;
    if (!Accept("NOT")) return ParsePrimary();
    if (!Enter(position)) return nullptr;
    PredicateNodePointer operand = ParseNot();
    --depth_;
    return operand ? Check(MakeNot(std::move(operand)), position) : nullptr;
  }

  PredicateNodePointer ParsePrimary() {
    const size_t position = token_.position;
    if (Accept("TRUE")) return MakeConstant(true);
    if (Accept("FALSE")) return MakeConstant(false);
    if (!AcceptSymbol("(")) return ParseComparison();
    if (!Enter(position)) return nullptr;
    PredicateNodePointer node = ParseOr();
    --depth_;
    if (node && !AcceptSymbol(")")) return Expected("AND, OR or ')'");
    return node;
  }

  PredicateNodePointer ParseComparison() {
    const Column* column = ParseColumn();
    if (column == nullptr) return nullptr;
    for (const auto& [symbol, comparison] : kSymbols) {
      if (AcceptSymbol(symbol)) return ParseValues(*column, comparison, 1);
    }
    if (AcceptSymbol("!=") || AcceptSymbol("<>")) {
      return Negate(ParseValues(*column, Comparison::kEqual, 1));
    }
    if (Accept("IS")) {
      const bool is_negated = Accept("NOT");
      if (!Accept("NULL") && !Accept("MISSING")) {
        return Expected(is_negated ? "NULL or MISSING" : "NOT, NULL or MISSING");
      }
      PredicateNodePointer node = ParseValues(*column, Comparison::kMissing, 0);
      return is_negated ? Negate(std::move(node)) : node;
    }
    const std::string_view words = "IN, BETWEEN, LIKE, STARTSWITH or HAS";
    if (Accept("NOT")) return Negate(ParseWordOperator(*column, words));
    return ParseWordOperator(
        *column, "an operator (=, !=, <, <=, >, >=, IN, BETWEEN, LIKE, STARTSWITH, HAS, IS)");
  }

  PredicateNodePointer ParseWordOperator(const Column& column, std::string_view expected) {
    if (Accept("IN")) return ParseList(column);
    if (Accept("BETWEEN")) return ParseValues(column, Comparison::kBetween, 2);
    if (Accept("LIKE")) return ParseValues(column, Comparison::kLike, 1);
    if (Accept("STARTSWITH")) return ParseValues(column, Comparison::kStartsWith, 1);
    if (Accept("HAS")) return ParseValues(column, Comparison::kHas, 1);
    return Expected(expected);
  }

  const Column* ParseColumn() {
    const bool is_name = token_.kind == Token::Kind::kName ||
                         (token_.kind == Token::Kind::kWord && IsPlainName(token_.source));
    if (!is_name) {
      if (token_.kind == Token::Kind::kWord && FindColumn(token_.text) != nullptr) {
        Fail(token_.position, "'" + token_.text + "' is a keyword; write the column as \"" +
                                  token_.text + "\", in double quotes");
        return nullptr;
      }
      Expected("a column, NOT or '('");
      return nullptr;
    }
    if (const Column* const column = FindColumn(token_.text)) {
      Advance();
      return column;
    }
    std::string known;
    for (const Column& column : columns_) {
      known += (known.empty() ? "" : ", ") + column.name();
    }
    Fail(token_.position, "unknown column '" + Shown(token_.text) + "'; " +
                              (known.empty() ? "there are no columns" : "known: " + known));
    return nullptr;
  }

  const Column* FindColumn(std::string_view name) const {
    for (const Column& column : columns_) {
      if (column.name() == name) return &column;
    }
    return nullptr;
  }

  // `count` values separated by AND.
  PredicateNodePointer ParseValues(const Column& column, Comparison comparison, size_t count) {
    const size_t position = token_.position;
    std::vector<Literal> literals;
    while (literals.size() < count) {
      if (!literals.empty() && !Accept("AND")) return Expected("AND");
      if (!ParseValue(column, comparison, &literals)) return nullptr;
    }
    return Check(MakeComparison(column, comparison, std::move(literals)), position);
  }

  PredicateNodePointer ParseList(const Column& column) {
    const size_t position = token_.position;
    if (!AcceptSymbol("(")) return Expected("'('");
    std::vector<Literal> literals;
    do {
      if (!ParseValue(column, Comparison::kIn, &literals)) return nullptr;
    } while (AcceptSymbol(","));
    if (!AcceptSymbol(")")) return Expected("',' or ')'");
    return Check(MakeComparison(column, Comparison::kIn, std::move(literals)), position);
  }

  bool ParseValue(const Column& column, Comparison comparison, std::vector<Literal>* literals) {
    const bool is_text = comparison == Comparison::kLike || comparison == Comparison::kStartsWith;
    if (token_.kind != Token::Kind::kString && (is_text || !token_.IsNumber())) {
      Expected(token_.Is("NULL") ? "a value (use IS NULL for missing ones)"
               : is_text         ? "a string in single quotes"
                                 : "a number or a string in single quotes");
      return false;
    }
    Literal literal{token_.IsNumber(), token_.text};
    // Checked here so that the error points at the value. LIKE has a more precise error.
    if (!is_text) {
      const Result<LiteralBound> bound = BindLiteral(column, literal);
      if (!bound.ok()) return Fail(token_.position, bound.status().message()) != nullptr;
    }
    literals->push_back(std::move(literal));
    Advance();
    return true;
  }

  PredicateNodePointer Negate(PredicateNodePointer node) {
    return node ? Check(MakeNot(std::move(node)), token_.position) : nullptr;
  }

  PredicateNodePointer Check(Result<PredicateNodePointer> made, size_t position) {
    return made.ok() ? *std::move(made) : Fail(position, made.status().message());
  }

  // Enters a parenthesis or NOT, which takes stack.
  bool Enter(size_t position) {
    if (++depth_ <= Predicate::kMaxDepth) return true;
    Fail(position, "parentheses and NOT are nested deeper than " +
                       std::to_string(Predicate::kMaxDepth) + " levels");
    return false;
  }

  void Advance() {
    token_ = NextToken(text_, next_);
    next_ = token_.position + token_.source.size();
  }
  bool Accept(std::string_view keyword) {
    if (!token_.Is(keyword)) return false;
    Advance();
    return true;
  }
  bool AcceptSymbol(std::string_view symbol) {
    if (!token_.IsSymbol(symbol)) return false;
    Advance();
    return true;
  }

  PredicateNodePointer Expected(std::string_view what) {
    std::string found = "the end";
    if (token_.kind != Token::Kind::kEnd) {
      found = Shown(token_.source);
      if (token_.source.front() != '\'') found = Quoted(found, '\'');
    }
    const bool is_open = token_.kind == Token::Kind::kUnknown &&
                         (token_.source.front() == '\'' || token_.source.front() == '"');
    return Fail(token_.position, "expected " + std::string(what) + ", found " + found +
                                     (is_open ? ", which has no closing quote" : ""));
  }

  PredicateNodePointer Fail(size_t position, const std::string& message) {
    if (error_.ok()) {
      error_position_ = position + 1;
      error_ = Status::InvalidArgument("position " + std::to_string(position + 1) + ": " + message);
    }
    return nullptr;
  }

  std::string_view text_;
  std::span<const Column> columns_;
  Token token_;
  size_t next_ = 0;  // end of token_
  size_t depth_ = 0;
  Status error_;
  size_t error_position_ = 0;
};

}  // namespace

Result<PredicateNodePointer> ParsePredicate(std::string_view text, std::span<const Column> columns,
                                            size_t* error_position, Query* query) {
  if (text.size() > Predicate::kMaxTextBytes) {
    if (error_position != nullptr) *error_position = Predicate::kMaxTextBytes + 1;
    return Status::InvalidArgument("position " + std::to_string(Predicate::kMaxTextBytes + 1) +
                                   ": predicate is longer than " +
                                   std::to_string(Predicate::kMaxTextBytes) + " bytes");
  }
  Parser parser(text, columns);
  Result<PredicateNodePointer> parsed = parser.Parse(query);
  if (!parsed.ok() && error_position != nullptr) *error_position = parser.error_position();
  return parsed;
}

}  // namespace blocksieve::internal
