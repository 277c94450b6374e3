#include "blocksieve/predicate.h"

#include <gtest/gtest.h>

#include "tests/core/column/test_columns.h"

// What predicates mean for a row.

namespace blocksieve {
namespace {

using testing::ExpectEach;
using testing::MakeColumns;
using testing::MakePredicate;

bool Matches(const std::vector<Column>& columns, std::string_view row, std::string_view text) {
  return MakePredicate(text, columns).Matches(row);
}

TEST(Predicate, ThreeValuedLogic) {
  const std::vector<Column> columns = MakeColumns({"n=int:1"});
  const std::string_view missing = "x";
  // Of each operand, what it is and what NOT makes of it.
  const std::vector<std::pair<std::string, char>> operands{
      {"TRUE", 't'}, {"FALSE", 'f'}, {"n = 1", 'u'}};
  const auto value = [&](const std::string& text) {
    if (Matches(columns, missing, text)) return 't';
    return Matches(columns, missing, "NOT (" + text + ")") ? 'f' : 'u';
  };
  const auto joined = [](const std::string& a, const std::string& keyword, const std::string& b) {
    return a + keyword + b;
  };
  for (const auto& [a, a_value] : operands) {
    EXPECT_EQ(value(a), a_value);
    for (const auto& [b, b_value] : operands) {
      const char both = a_value == 'f' || b_value == 'f'   ? 'f'
                        : a_value == 'u' || b_value == 'u' ? 'u'
                                                           : 't';
      const char any = a_value == 't' || b_value == 't'   ? 't'
                       : a_value == 'u' || b_value == 'u' ? 'u'
                                                          : 'f';
      EXPECT_EQ(value(joined(a, " AND ", b)), both) << a << b;
      EXPECT_EQ(value(joined(a, " OR ", b)), any) << a << b;
    }
  }
}

TEST(Predicate, AMissingColumnMatchesNoComparisonAndNoNegation) {
  const std::vector<Column> columns =
      MakeColumns({"n=int:2", "s=field:2", "a=field[,]:2", "w=words:2", "g=ngrams(3):2"});
  for (const std::string comparison :
       {"n = 1", "n != 1", "n < 1", "n IN (1)", "n NOT IN (1)", "n = 1.5", "n != 1.5", "n < 1e99",
        "s = ''", "s LIKE '%'", "s NOT LIKE '%'", "s STARTSWITH ''", "a HAS 'x'", "a NOT HAS 'x'",
        "w HAS 'x'", "w NOT HAS 'x'", "w LIKE '%'", "g HAS ''", "g NOT HAS 'x'"}) {
    EXPECT_FALSE(Matches(columns, "only one field", comparison)) << comparison;
    EXPECT_FALSE(Matches(columns, "only one field", "NOT " + comparison)) << comparison;
  }
  for (const std::string name : {"n", "s", "a", "w", "g"}) {
    EXPECT_TRUE(Matches(columns, "only one field", name + " IS NULL"));
    EXPECT_FALSE(Matches(columns, "only one field", name + " IS NOT NULL"));
    EXPECT_TRUE(Matches(columns, "x\t7", name + " IS NOT NULL"));
    EXPECT_FALSE(Matches(columns, "x\t7", name + " IS NULL"));
  }
  EXPECT_TRUE(Matches(columns, "x\tno number", "n IS NULL AND s IS NOT NULL"));
  EXPECT_TRUE(Matches(columns, "x\t", "n IS NULL AND s = '' AND a IS NULL AND w = '' AND g = ''"));
}

TEST(Predicate, Bytes) {
  const std::vector<Column> columns = MakeColumns({"s=field:1"});
  ExpectEach(true, columns, "bash", "s = 'bash' | s HAS 'bash'");
  ExpectEach(false, columns, "bash", "s = 'BASH' | s = 'bash ' | s BETWEEN 'c' AND 'a'");
  EXPECT_TRUE(Matches(columns, "it's", "s = 'it''s'"));
  EXPECT_TRUE(Matches(columns, "b", "s > 'a' AND s < 'c' AND s >= 'b' AND s <= 'b'"));
  EXPECT_TRUE(Matches(columns, "\xff", "s > '\x7f'")) << "bytes are unsigned";
  EXPECT_TRUE(Matches(columns, "ab", "s > 'a'"));
  ExpectEach(true, columns, "b",
             "s BETWEEN 'a' AND 'c' | s IN ('a', 'b', 'b') | s NOT IN ('a', 'c')");
  ExpectEach(true, columns, "libfoo.so", "s STARTSWITH 'lib' | s LIKE 'lib%.s_'");
  EXPECT_FALSE(Matches(columns, "li", "s STARTSWITH 'lib'"));
  EXPECT_FALSE(Matches(columns, "lic", "s STARTSWITH 'lib'"));
  EXPECT_TRUE(Matches(columns,
                      "\xff\xff"
                      "a",
                      "s STARTSWITH '\xff\xff'"));
  EXPECT_FALSE(Matches(columns, "\xff", "s STARTSWITH '\xff\xff'"));
  EXPECT_FALSE(Matches(columns, "a%b", "s STARTSWITH 'a_'")) << "no wildcards";
}

TEST(Predicate, AComparisonOfAnArrayIsOneOfAnyElement) {
  const std::vector<Column> columns = MakeColumns({"a=int:field[,]:1", "t=field[,]:1"});
  const std::string_view row = "3,-7,12";
  ExpectEach(true, columns, row,
             "a = 3 | a HAS -7 | a < 0 AND a > 10 | a IN (5, 12) | t LIKE '1_' | t STARTSWITH '-'");
  ExpectEach(false, columns, row, "a HAS 4 | a BETWEEN 4 AND 11");
  // Negations say that no element does.
  ExpectEach(false, columns, row,
             "a != 3 | NOT a HAS 3 | a NOT HAS 3 | a NOT IN (5, 12) | NOT a < 0 | t NOT LIKE '%2'");
  ExpectEach(true, columns, row, "a != 4 | a NOT BETWEEN 4 AND 11");
}

TEST(Predicate, WordsAndNgramsCompareWholeTextsButForHas) {
  const std::vector<Column> columns = MakeColumns({"w=words:1", "g=ngrams(4):1"});
  const std::string_view row = "abc,def,zzz";
  ExpectEach(true, columns, row,
             "w HAS 'def' | w = 'abc,def,zzz' | w LIKE '%c,d%' | w STARTSWITH 'ab' | "
             "w < 'b' AND w BETWEEN 'a' AND 'b' | w IN ('x', 'abc,def,zzz') | g HAS 'c,de'");
  ExpectEach(false, columns, row, "w HAS 'DEF' | w HAS 'de' | w = 'def'");
  ExpectEach(true, columns, "abcdefzzz", "w NOT HAS 'def'");
  EXPECT_TRUE(Matches(columns, "\xc3\xa9t\xc3\xa9!", "w HAS '\xc3\xa9t\xc3\xa9'"));
  // Longer and shorter than n.
  ExpectEach(true, columns, row, "g HAS 'bc,def,z' | g HAS 'f' | g LIKE '%f,z%' | g NOT HAS 'x'");
  EXPECT_TRUE(Matches(columns, "ab", "g LIKE '%b%'")) << "a text shorter than n";
  EXPECT_TRUE(Matches(columns, "--", "w LIKE '%-' AND w NOT HAS 'x' AND w IS NOT NULL"));
}

TEST(Predicate, BuildsWhatParsingBuilds) {
  const std::vector<Column> columns = MakeColumns({"n=int:1", "s=field:2", "w=words:2"});
  const Column& n = columns[0];
  const Column& s = columns[1];
  const std::vector<Value> values{Value::Int(1), Value::Int(2)};
  const std::vector<std::pair<Result<Predicate>, std::string>> cases{
      {Predicate::Equals(n, Value::Int(1)), "n = 1"},
      {Predicate::NotEquals(s, Value::Bytes("it's")), "s != 'it''s'"},
      {Predicate::Less(n, Value::Int(1)), "n < 1"},
      {Predicate::LessOrEqual(n, Value::Float(0.5)), "n <= 0.5"},
      {Predicate::Greater(n, Value::Float(1e300)), "n > 1e+300"},
      {Predicate::GreaterOrEqual(n, Value::Int(-1)), "n >= -1"},
      {Predicate::Between(n, Value::Int(1), Value::Int(2)), "n BETWEEN 1 AND 2"},
      {Predicate::In(n, values), "n IN (1, 2)"},
      {Predicate::Like(s, "a%"), "s LIKE 'a%'"},
      {Predicate::StartsWith(s, "a"), "s STARTSWITH 'a'"},
      {Predicate::Has(columns[2], Value::Bytes("a")), "w HAS 'a'"},
      {Predicate::IsMissing(n), "n IS NULL"},
      {Predicate::Constant(true), "TRUE"},
      {Predicate::Constant(false), "FALSE"},
  };
  std::vector<Predicate> all;
  for (const auto& [predicate, text] : cases) {
    ASSERT_TRUE(predicate.ok()) << predicate.status().message();
    EXPECT_EQ(predicate->ToText(), text);
    EXPECT_EQ(MakePredicate(text, columns).ToText(), text);
    EXPECT_EQ(Predicate::Not(*Predicate::Not(*predicate))->ToText(), text);
    all.push_back(*predicate);
  }
  const Result<Predicate> either = Predicate::Or(std::vector{*Predicate::And(all), all[0]});
  EXPECT_EQ(MakePredicate(either->ToText(), columns).ToText(), either->ToText());
  EXPECT_EQ(either->columns().size(), 3u);
  EXPECT_TRUE(Predicate::And({})->Matches(""));
  EXPECT_FALSE(Predicate::Or({})->Matches(""));
  EXPECT_EQ(Predicate::And(std::vector{all[0]})->ToText(), "n = 1");
}

TEST(Predicate, RefusesWhatHasNoMeaning) {
  const std::vector<Column> columns = MakeColumns({"n=int:1", "s=field:2", "w=words:2"});
  EXPECT_FALSE(Predicate::Equals(columns[0], Value::Bytes("one")).ok());
  EXPECT_FALSE(Predicate::NotEquals(columns[0], Value::Bytes("1 ")).ok());
  EXPECT_FALSE(Predicate::Equals(columns[1], Value::Int(1)).ok());
  EXPECT_FALSE(Predicate::In(columns[0], {}).ok());
  EXPECT_FALSE(Predicate::Like(columns[0], "%").ok());
  EXPECT_FALSE(Predicate::Like(columns[1], "\\").ok());
  EXPECT_FALSE(Predicate::Has(columns[2], Value::Bytes("two words")).ok());
}

TEST(Predicate, BoundsTheDepthOfWhatIsBuilt) {
  const Column column = testing::MakeColumn("n=int:1");
  const Predicate leaf = *Predicate::Equals(column, Value::Int(1));
  Predicate predicate = leaf;
  size_t depth = 1;
  while (true) {
    const Result<Predicate> negated = Predicate::Not(predicate);
    const Result<Predicate> deeper =
        negated.ok() ? Predicate::And(std::vector{*negated, leaf}) : negated;
    if (!deeper.ok()) break;
    predicate = *deeper;
    depth += 2;
    ASSERT_LE(depth, Predicate::kMaxDepth);
  }
  EXPECT_GE(depth + 2, Predicate::kMaxDepth);
  EXPECT_EQ(MakePredicate(predicate.ToText(), {&column, 1}).ToText(), predicate.ToText());
  // Merging operands add no depth.
  Predicate wide = leaf;
  for (int i = 0; i < 1'000; ++i) wide = *Predicate::Or(std::vector{wide, leaf});
  EXPECT_TRUE(wide.Matches("1"));
}

TEST(Predicate, OutlivesWhatItWasMadeOf) {
  std::optional<Predicate> predicate;
  {
    const std::string text = "s = 'a string that is too long to be kept in place' OR s LIKE 'x%y'";
    const std::vector<Column> columns = MakeColumns({"s=value"});
    predicate = MakePredicate(text, columns);
  }
  const Predicate copy = *predicate;
  predicate.reset();
  EXPECT_TRUE(copy.Matches("a string that is too long to be kept in place"));
  EXPECT_TRUE(copy.Matches("x--y"));
  EXPECT_FALSE(copy.Matches("a string that is too long to be kept in placE"));
}

}  // namespace
}  // namespace blocksieve
