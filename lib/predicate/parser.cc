#include <string>
#include <utility>
#include <vector>

#include "blocksieve/predicate.h"
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

// Recursive descent, one token ahead. Every function returns null after an error, of which the
// first is kept.
class Parser {
 public:
  Parser(std::string_view text, std::span<const Column> columns) : text_(text), columns_(columns) {
    Advance();
  }

  Result<PredicateNodePointer> Parse() {
    PredicateNodePointer node = ParseOr();
    if (node && token_.kind != Token::Kind::kEnd) node = Expected("AND, OR or the end");
    if (!node) return error_;
    return node;
  }

  size_t error_position() const noexcept { return error_position_; }

 private:
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
      Expected("a column, NOT or '('");
      return nullptr;
    }
    std::string known;
    for (const Column& column : columns_) {
      if (column.name() == token_.text) {
        Advance();
        return &column;
      }
      known += (known.empty() ? "" : ", ") + column.name();
    }
    Fail(token_.position, "unknown column '" + token_.text + "'; " +
                              (known.empty() ? "no column is known" : "known are " + known));
    return nullptr;
  }

  // `count` values, with AND between them.
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
    const bool is_number = token_.kind == Token::Kind::kNumber || token_.Is("NAN") ||
                           token_.Is("INF") || token_.Is("INFINITY");
    if (token_.kind != Token::Kind::kString && (is_text || !is_number)) {
      Expected(token_.Is("NULL") ? "a value (use IS NULL for missing ones)"
               : is_text         ? "a string in single quotes"
                                 : "a number or a string in single quotes");
      return false;
    }
    Literal literal{is_number, token_.text};
    // Here, so that the error points at the value; LIKE has more to say about its column.
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

  // One more parenthesis or NOT. Each takes stack.
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
    constexpr size_t kMostShown = 40;
    std::string found = "the end";
    if (token_.kind != Token::Kind::kEnd) {
      found = std::string(token_.source.substr(0, kMostShown));
      if (token_.source.size() > kMostShown) found += "...";
      if (token_.source.front() != '\'') found = Quoted(found, '\'');
    }
    const bool is_open = token_.kind == Token::Kind::kUnknown &&
                         (token_.source.front() == '\'' || token_.source.front() == '"');
    return Fail(token_.position, "expected " + std::string(what) + ", found " + found +
                                     (is_open ? ", whose quote is not closed" : ""));
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
  size_t next_ = 0;  // where the token after it begins, or the blanks before that
  size_t depth_ = 0;
  Status error_;
  size_t error_position_ = 0;
};

}  // namespace

Result<PredicateNodePointer> ParsePredicate(std::string_view text, std::span<const Column> columns,
                                            size_t* error_position) {
  if (text.size() > Predicate::kMaxTextBytes) {
    if (error_position != nullptr) *error_position = Predicate::kMaxTextBytes + 1;
    return Status::InvalidArgument("position " + std::to_string(Predicate::kMaxTextBytes + 1) +
                                   ": a predicate has at most " +
                                   std::to_string(Predicate::kMaxTextBytes) + " bytes");
  }
  Parser parser(text, columns);
  Result<PredicateNodePointer> node = parser.Parse();
  if (!node.ok() && error_position != nullptr) *error_position = parser.error_position();
  return node;
}

}  // namespace blocksieve::internal
