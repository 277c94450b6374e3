#include "blocksieve/predicate.h"

#include <gtest/gtest.h>

#include <limits>

#include "lib/column/value_number.h"
#include "lib/predicate/pattern.h"
#include "tests/core/column/test_columns.h"

// Results of predicates for a row.

namespace blocksieve::testing {
namespace {

// By example; pruning_property_test.cc compares with a second implementation.
TEST(PredicateTest, MatchesTheExamples) {
  const std::vector<Column> columns =
      MakeColumns({"s=field:1", "t=field[,]:1", "w=words:1", "g=ngrams(4):1", "a=int:field[,]:1",
                   "n=int:2", "f=float:2"});
  const struct {
    std::string_view row;
    std::string_view is_true;
    std::string_view is_false;
  } cases[] = {
      {"bash", "s = 'bash' | s HAS 'bash' | s > 'bas' | s BETWEEN 'a' AND 'c' | s IN ('a', 'bash')",
       "s = 'BASH' | s = 'bash ' | s BETWEEN 'c' AND 'a' | s NOT IN ('bash') | s STARTSWITH "
       "'bas_'"},
      {"it's", "s = 'it''s' | g HAS 's' | g LIKE '%s%'", "g HAS 'its'"},
      {"\xff\xff", "s > '\x7f' | s STARTSWITH '\xff'", "s STARTSWITH '\xff\xff\xff'"},
      {"libfoo.so", "s STARTSWITH 'lib' | s LIKE 'lib%.s_'", "s NOT LIKE '%foo%'"},
      // Integers are not converted to double; floats have one zero and one NaN.
      {"\t9007199254740993", "n > 9007199254740992 | n > 9007199254740992.9 | f = 9007199254740993",
       "n = 9007199254740992 | n > 9007199254740993.0"},
      {"\t-0.0", "f = 0 | f = -0.0 | f BETWEEN -.5 AND 1. | f IN (1, 0e0)", "f < 0"},
      {"\t-nan", "f = NaN | f > inf", "f <= 1e308 | f > INFINITY AND f < nan"},
      {"\t1e999", "f = inf | f > -Infinity", "f > INFINITY"},
      {"\t500", "f = '500' | f IN ('500', 7) | f BETWEEN '-5' AND '500.5'", "f = '5e1'"},
      {"\t1", "s = '' AND s IS NOT NULL AND a IS NULL AND n = 1", "a HAS 1 | a NOT HAS 1"},
  };
  for (const auto& [row, is_true, is_false] : cases) {
    ExpectEach(true, columns, row, is_true);
    ExpectEach(false, columns, row, is_false);
  }
}

TEST(PredicateTest, BuildersEqualParsing) {
  const std::vector<Column> columns = MakeColumns({"n=int:1", "s=field:2", "w=words:2"});
  const Column& n = columns[0];
  const Column& s = columns[1];
  const std::vector<Value> values{Value::Int(1), Value::Int(2)};
  const std::vector<std::pair<Result<Predicate>, std::string>> cases{
      {Predicate::Compare(n, Comparison::kEqual, Value::Int(1)), "n = 1"},
      {Predicate::Not(*Predicate::Compare(s, Comparison::kEqual, Value::Bytes("it's"))),
       "s != 'it''s'"},
      {Predicate::Compare(n, Comparison::kLess, Value::Int(1)), "n < 1"},
      {Predicate::Compare(n, Comparison::kLessOrEqual, Value::Float(0.5)), "n <= 0.5"},
      {Predicate::Compare(n, Comparison::kGreater, Value::Float(1e300)), "n > 1e+300"},
      {Predicate::Compare(n, Comparison::kGreaterOrEqual, Value::Int(-1)), "n >= -1"},
      {Predicate::Compare(n, Comparison::kBetween, values), "n BETWEEN 1 AND 2"},
      {Predicate::Compare(n, Comparison::kIn, values), "n IN (1, 2)"},
      {Predicate::Compare(s, Comparison::kLike, Value::Bytes("a%")), "s LIKE 'a%'"},
      {Predicate::Compare(s, Comparison::kStartsWith, Value::Bytes("a")), "s STARTSWITH 'a'"},
      {Predicate::Compare(columns[2], Comparison::kHas, Value::Bytes("a")), "w HAS 'a'"},
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
  EXPECT_FALSE(Predicate::Compare(n, Comparison::kIn, {}).ok());
}

TEST(PredicateTest, BoundsTheDepthOfCombinations) {
  const Column column = MakeColumn("n=int:1");
  const Predicate leaf = *Predicate::Compare(column, Comparison::kEqual, Value::Int(1));
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

TEST(PredicateTest, OutlivesItsArguments) {
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

TEST(PredicateNumberTest, ValuesInCxxAreAsExact) {
  const std::vector<Column> columns = MakeColumns({"n=int:1", "u=uint:1", "f=float:1"});
  const Column& n = columns[0];
  EXPECT_TRUE(Predicate::Compare(n, Comparison::kEqual, Value::Uint(5))->Matches("5"));
  EXPECT_TRUE(Predicate::Compare(n, Comparison::kEqual, Value::Float(-5))->Matches("-5"));
  EXPECT_TRUE(Predicate::Compare(n, Comparison::kLess, Value::Float(1.5))->Matches("1"));
  EXPECT_TRUE(Predicate::Compare(n, Comparison::kLess, Value::Uint(~uint64_t{0}))
                  ->Matches("9223372036854775807"));
  EXPECT_TRUE(Predicate::Compare(columns[1], Comparison::kEqual, Value::Int(7))->Matches("7"));
  EXPECT_FALSE(Predicate::Compare(columns[1], Comparison::kEqual, Value::Int(-1))
                   ->Matches("18446744073709551615"));
  EXPECT_TRUE(Predicate::Compare(columns[2], Comparison::kEqual,
                                 Value::Float(std::numeric_limits<double>::quiet_NaN()))
                  ->Matches("nan"));
  // Its shortest text, 9223372036854775000, is another integer.
  const double below_two_to_63 = 9223372036854774784.0;
  EXPECT_TRUE(Predicate::Compare(n, Comparison::kEqual, Value::Float(below_two_to_63))
                  ->Matches("9223372036854774784"));
  EXPECT_FALSE(Predicate::Compare(n, Comparison::kEqual, Value::Float(below_two_to_63))
                   ->Matches("9223372036854775000"));
}

bool Like(std::string_view text, std::string_view pattern) {
  const std::optional<internal::Pattern> parsed = internal::Pattern::Like(pattern);
  EXPECT_TRUE(parsed.has_value()) << pattern;
  return parsed->Matches(text);
}

// What pruning_property_test.cc leaves out: escapes, and invalid UTF-8. The words and n-grams that
// a pattern requires: granule_pruner_test.cc.
TEST(PredicatePatternTest, MatchesTexts) {
  const struct {
    std::string_view text;
    std::vector<std::string_view> like;
    std::vector<std::string_view> unlike;
  } cases[] = {
      {"abc", {"__%", "%_%_%_%"}, {"%_%_%_%_%", "ABC", "a\\%c", "a\\_c"}},
      {"a%c", {"a\\%c"}, {}},
      {"a_c", {"a\\_c"}, {}},
      {"a\\c", {"a\\\\c", "a\\c"}, {}},  // a backslash before anything else is literal
      {"_", {"\\_"}, {}},
      {"%%", {"\\%\\%"}, {"\\%"}},
      {"a\nb", {"a_b"}, {}},
      // An underscore is one character, also in invalid UTF-8.
      {"\xc3\xa9", {"_", "%\xa9"}, {"__"}},  // literals match bytes, as STARTSWITH does
      {"\xe6\x97\xa5", {"_"}, {"__", "%__", "_%_", "__%"}},
      {"a\xf0\x9f\x98\x80z", {"a_z"}, {"a__z"}},
      {"\xff\xfe", {"__"}, {"_"}},
      {"\xc3\xa9\xa9", {"__"}, {"_"}},
      {"caf\xe9!", {"caf_!"}, {}},
  };
  for (const auto& [text, like, unlike] : cases) {
    for (const std::string_view pattern : like) EXPECT_TRUE(Like(text, pattern)) << pattern;
    for (const std::string_view pattern : unlike) EXPECT_FALSE(Like(text, pattern)) << pattern;
  }
  EXPECT_FALSE(internal::Pattern::Like("abc\\"));
}

TEST(PredicatePatternTest, DoesNotTakeExponentialTime) {
  const std::string text(5'000, 'a');
  std::string pattern;
  for (int i = 0; i < 200; ++i) pattern += "%a_";
  EXPECT_FALSE(Like(text, pattern + "b"));
  EXPECT_FALSE(Like(text, pattern + "%b"));
  EXPECT_TRUE(Like(text, pattern + "%"));
}

TEST(DecimalTest, IsExactAtAnyLength) {
  using internal::Decimal;
  const auto whole = [](std::string_view text) { return Decimal::Parse(text)->IntegerPart(); };
  EXPECT_EQ(whole("18446744073709551615.9"), ~uint64_t{0});
  EXPECT_EQ(whole("18446744073709551616"), std::nullopt);
  EXPECT_EQ(whole("99999999999999999999"), std::nullopt);
  EXPECT_EQ(whole("123456e-3"), 123u);
  EXPECT_EQ(whole("0.00012e7"), 1200u);
  EXPECT_EQ(whole("1e-999999999999999999999"), 0u);
  EXPECT_EQ(whole("0e999999999999999999999"), 0u);
  EXPECT_EQ(whole("1e999999999999999999999"), std::nullopt);
  EXPECT_EQ(whole("0." + std::string(5'000, '0') + "5e5001"), 5u);
  EXPECT_TRUE(Decimal::Parse("1.0000000000000000000000000001")->HasFraction());
  EXPECT_FALSE(Decimal::Parse("1.000")->HasFraction());
  EXPECT_FALSE(Decimal::Parse("-0.0")->is_negative());
  EXPECT_TRUE(Decimal::Parse("-0.1")->is_negative());
  for (const std::string_view text :
       {"", "-", ".", "1e", "e5", "1e+", "1.2.3", "inf", "nan", " 1", "0x1"}) {
    EXPECT_FALSE(Decimal::Parse(text)) << text;
  }
}

}  // namespace
}  // namespace blocksieve::testing
