#include "tests/core/predicate/predicate_reference.h"

#include "tests/core/column/test_columns.h"

// Random rows and conditions of Reference.

namespace blocksieve::testing {
std::string Reference::RandomText(uint64_t most_pieces) {
  static const Texts pieces{"a", "b", "ab", " ", ".", "\xc3\xa9", "\xe6\x97\xa5", "%", "_", "\\"};
  std::string text;
  for (uint64_t i = Below(most_pieces + 1); i > 0; --i) text += OneOf(pieces);
  return text;
}

std::string Reference::RandomRow() {
  static const Texts integers = Listed(
      "0 | 1 | 2 | 3 | -1 | -2 | 9223372036854775807 | x |  | -9223372036854775808 | "
      "9223372036854775808 | 18446744073709551615");
  static const Texts floats = Listed("0 | -0.0 | 0.5 | 1 | 1e3 | -inf | inf | nan | -1 |  | x");
  std::string row = RandomText(2);
  const uint64_t num_fields = 1 + Below(8);
  if (num_fields > 1) row += "\t" + OneOf(integers);
  if (num_fields > 2) row += "\t" + OneOf(floats);
  if (num_fields > 3) {
    row += "\t";
    for (uint64_t i = Below(4); i > 0; --i) row += OneOf(integers) + (i > 1 ? "," : "");
  }
  if (num_fields > 4) row += "\t" + RandomText(6) + (Below(4) == 0 ? "," + RandomText(3) : "");
  return row;
}

Reference::Condition Reference::RandomComparison() {
  static const Texts integers = Listed(
      "0 | 1 | 2 | -1 | 1.5 | -0.5 | 3.0 | 9223372036854775807 | 9223372036854775808 | "
      "-9223372036854775808 | 18446744073709551615 | -9223372036854775809 | 1e30 | -1e400 | inf | "
      "9223372036854775807.5 | nan");
  static const Texts floats = Listed("0 | -0.0 | 0.5 | 1 | 1000 | inf | -inf | nan | 0.25 | -1");
  static const Texts number_ops = Listed("= | = | IN | < | <= | > | >= | BETWEEN | HAS | IS NULL");
  static const Texts text_ops{"LIKE", "LIKE", "STARTSWITH"};
  Condition condition;
  condition.kind = Condition::Kind::kComparison;
  const ColumnFacts& facts = OneOf(Columns());
  condition.column = facts.name;
  const bool is_text = facts.type == "bytes";
  condition.op = is_text && Below(2) == 0 ? OneOf(text_ops) : OneOf(number_ops);
  condition.is_negated = Below(3) == 0;
  const size_t count = condition.op == "IN"        ? 1 + Below(4)
                       : condition.op == "BETWEEN" ? 2
                       : condition.op == "IS NULL" ? 0
                                                   : 1;
  while (condition.text.size() < count) {
    std::string text = OneOf(facts.type == "float" ? floats : integers);
    if (is_text) {
      text = facts.field == 3 ? OneOf(integers) : RandomText(facts.field == 4 ? 4 : 2);
      if (condition.op == "LIKE" && Below(2) == 0) text.insert(0, "%").append("%");
      if (condition.op == "LIKE") {
        const size_t end = text.find_last_not_of('\\') + 1;
        if ((text.size() - end) % 2 == 1) text += "\\";
      }
      if (condition.op == "HAS" && facts.tokens == 'w') {
        text = OneOf(Texts{"a", "ab", "b", "\xc3\xa9", "bab"});
      }
    }
    condition.text.push_back(text);
  }
  return condition;
}

Reference::Condition Reference::RandomCondition(int depth) {
  if (depth == 0 || Below(4) == 0) {
    if (Below(20) != 0) return RandomComparison();
    Condition constant;
    constant.kind = Below(2) == 0 ? Condition::Kind::kTrue : Condition::Kind::kFalse;
    return constant;
  }
  Condition condition;
  const uint64_t kind = Below(5);
  condition.kind = kind == 0  ? Condition::Kind::kNot
                   : kind < 3 ? Condition::Kind::kAnd
                              : Condition::Kind::kOr;
  const uint64_t count = kind == 0 ? 1 : 2 + Below(2);
  while (condition.operands.size() < count)
    condition.operands.push_back(RandomCondition(depth - 1));
  return condition;
}

}  // namespace blocksieve::testing
