// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "lib/column/values.h"
#include "lib/predicate/pattern.h"
#include "tests/core/column/test_columns.h"

// Results of predicates for a row, and their texts.

namespace blocksieve::testing {
namespace {

// By example; granule_pruner_test.cc compares with a second implementation.
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

// A float of 32 bits is what a literal rounds to, in every comparison.
TEST(PredicateTest, LiteralsOfNarrowColumnsAreRounded) {
  const std::vector<Column> columns = MakeColumns({"f=float32le(0)", "d=float64le(0)"});
  const std::string_view row("\xcd\xcc\x8c\x3f\0\0\0\0", 8);  // 1.1f
  ExpectEach(true, columns, row,
             "f = 1.1 | f = '1.1' | f IN (2, 1.1) | f BETWEEN 1 AND 1.1 | f BETWEEN 1.1 AND 2 | "
             "f <= 1.1 | f >= 1.1 | f HAS 1.1 | f < 1e300 | f > -1e300 | f < inf");
  ExpectEach(false, columns, row,
             "f != 1.1 | f < 1.1 | f > 1.1 | f NOT IN (1.1) | f = 1.1000003 | d = 1.1");
  const std::string_view infinity("\0\0\x80\x7f", 4);
  ExpectEach(true, columns, infinity, "f = inf | f > 1e300 | f != 1e300 | f > 3.5e38");
  ExpectEach(false, columns, infinity, "f = 1e300 | f IN (1e39, 1) | f <= 1e300 | f < -1e300");
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
  const auto matches = [&](size_t column, const Value& value, std::string_view row,
                           Comparison comparison = Comparison::kEqual) {
    return Predicate::Compare(columns[column], comparison, value)->Matches(row);
  };
  EXPECT_TRUE(matches(0, Value::Uint(5), "5"));
  EXPECT_TRUE(matches(0, Value::Float(-5), "-5"));
  EXPECT_TRUE(matches(0, Value::Float(1.5), "1", Comparison::kLess));
  EXPECT_TRUE(matches(0, Value::Uint(~uint64_t{0}), "9223372036854775807", Comparison::kLess));
  EXPECT_TRUE(matches(1, Value::Int(7), "7"));
  EXPECT_FALSE(matches(1, Value::Int(-1), "18446744073709551615"));
  EXPECT_TRUE(matches(2, Value::Float(std::numeric_limits<double>::quiet_NaN()), "nan"));
  // Its shortest text, 9223372036854775000, is another integer.
  EXPECT_TRUE(matches(0, Value::Float(9223372036854774784.0), "9223372036854774784"));
  EXPECT_FALSE(matches(0, Value::Float(9223372036854774784.0), "9223372036854775000"));
}

bool Like(std::string_view text, std::string_view pattern) {
  const std::optional<internal::Pattern> parsed = internal::Pattern::Like(pattern);
  EXPECT_TRUE(parsed.has_value()) << pattern;
  return parsed->Matches(text);
}

// What granule_pruner_test.cc leaves out: escapes, and invalid UTF-8. The words and n-grams that
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

// Texts that are parsed, and that are refused.

const std::vector<Column>& AllColumns() {
  static const std::vector<Column> columns =
      MakeColumns({"pkg=field:1", "n=int:2", "f=float:3", "words=words:4", "g=ngrams(4):4",
                   "in=field:5", "two words=field:6", "\xc3\xa9=field:7"});
  return columns;
}

struct BadText {
  std::string text;
  size_t position;
  std::string message;  // part of it
};

/// Expects that Parsed::Parse refuses these texts.
template <class Parsed>
void ExpectErrors(const std::vector<Column>& columns, const std::vector<BadText>& cases) {
  for (const auto& [text, position, message] : cases) {
    SCOPED_TRACE(text);
    size_t error_position = 0;
    const Status status = Parsed::Parse(text, columns, &error_position).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(error_position, position);
    EXPECT_NE(status.message().find(message), std::string::npos) << status.message();
    EXPECT_EQ(status.message().find("position " + std::to_string(position) + ": "), 0u);
  }
}

std::string Printed(std::string_view text) { return MakePredicate(text, AllColumns()).ToText(); }

TEST(PredicateParserTest, PrintsTheCanonicalForm) {
  for (const std::string& text : Listed(
           "pkg = 'bash' | pkg != 'bash' | n < 5 | n <= -5 | n > 1.5 | n >= 1e400 | "
           "n IN (1, 2, 3) | n NOT IN (1) | n BETWEEN 1 AND 2 | n NOT BETWEEN 1 AND 2 | "
           "pkg LIKE 'a\\%%' | pkg NOT LIKE '_' | pkg STARTSWITH 'lib' | pkg NOT STARTSWITH '' | "
           "words HAS 'lib' | words NOT HAS 'lib' | pkg IS NULL | pkg IS NOT NULL | TRUE | "
           "FALSE | NOT TRUE | NOT n < 5 | f = nan | f > -inf | pkg = 'it''s' | pkg = '' | "
           "\"in\" = 'x' | \"two words\" = 'x' | \xc3\xa9 = '\xff\n' | "
           "n = 1 AND n = 2 AND n = 3 | n = 1 OR n = 2 AND n = 3 | (n = 1 OR n < 2) AND n = 3 | "
           "NOT (n = 1 AND n = 2) | NOT (n < 1 OR n = 2) OR NOT (n = 3 AND TRUE) | g HAS 'a b'")) {
    EXPECT_EQ(Printed(text), text);
  }
}

TEST(PredicateParserTest, AcceptsOtherSpellings) {
  EXPECT_EQ(Printed("pkg=='x'"), "pkg = 'x'");
  EXPECT_EQ(Printed("pkg<>'x'"), "pkg != 'x'");
  EXPECT_EQ(Printed("n<-5"), "n < -5");
  EXPECT_EQ(Printed("\t pkg\n=\r'x' "), "pkg = 'x'");
  EXPECT_EQ(Printed("pkg like 'x' And n iN(1,2)oR f between 1 and 2"),
            "pkg LIKE 'x' AND n IN (1, 2) OR f BETWEEN 1 AND 2");
  EXPECT_EQ(Printed("pkg is missing or pkg is not missing"), "pkg IS NULL OR pkg IS NOT NULL");
  EXPECT_EQ(Printed("\"pkg\" = 'x'"), "pkg = 'x'");
  EXPECT_EQ(Printed("((n = 1))"), "n = 1");
  EXPECT_EQ(Printed("NOT NOT n = 1"), "n = 1");
  EXPECT_EQ(Printed("NOT n != 1"), "n = 1");
  EXPECT_EQ(Printed("NOT n NOT IN (1)"), "n IN (1)");
  EXPECT_EQ(Printed("(n = 1 AND n = 2) AND (n = 3 AND n = 4)"),
            "n = 1 AND n = 2 AND n = 3 AND n = 4");
  EXPECT_EQ(Printed("(n = 1 AND n = 2) OR n = 3"), "n = 1 AND n = 2 OR n = 3");
}

TEST(PredicateParserTest, UnitesValuesOfAColumn) {
  EXPECT_EQ(Printed("n = 1 OR pkg = 'a' OR n IN (3, 2) OR f < 1 OR pkg = 'b' OR n = 1"),
            "n IN (1, 3, 2, 1) OR pkg IN ('a', 'b') OR f < 1");
  EXPECT_EQ(Printed("n != 1 AND pkg = 'a' AND NOT (n = 2 OR n = 1.5) AND n = 4"),
            "n NOT IN (1, 2, 1.5) AND pkg = 'a' AND n = 4");
  EXPECT_EQ(Printed("((n = 1 OR n = 2) OR (n = 3)) AND words != 'a' AND words NOT IN ('b')"),
            "n IN (1, 2, 3) AND words NOT IN ('a', 'b')");
  // These have no list of values, or not of the same column.
  for (const std::string& text :
       Listed("n = 1 OR f = 1 | n = 1 OR n != 2 | n != 1 AND n = 2 | n = 1 OR n IS NULL | "
              "n = 1 OR n BETWEEN 2 AND 2 | words = 'a' OR words HAS 'a' | pkg = 'a' OR pkg LIKE "
              "'b'")) {
    EXPECT_EQ(Printed(text), text);
  }
  const std::vector<Predicate> operands = {MakePredicate("n = 1", AllColumns()),
                                           MakePredicate("n = 2", AllColumns())};
  EXPECT_EQ(Must(Predicate::Or(operands)).ToText(), "n IN (1, 2)");
  const std::vector<Predicate> negated = {Must(Predicate::Not(operands[0])),
                                          Must(Predicate::Not(operands[1]))};
  EXPECT_EQ(Must(Predicate::And(negated)).ToText(), "n NOT IN (1, 2)");
}

TEST(PredicateParserTest, UnitesTwoEndsOfAWindow) {
  const auto printed = [&](std::string_view text) {
    static const std::vector<Column> columns = MakeColumns(
        {"n=int:1", "u=uint:1", "f=float:1", "s=field:1", "a=int:field[;]:1", "j=int:json:/a"});
    return MakePredicate(text, columns).ToText();
  };
  EXPECT_EQ(printed("u >= 5 AND s = 'a' AND u < 9 AND n < 7.5 AND n > -1.5 AND n >= 4 AND n < 8"),
            "u BETWEEN 5 AND 8 AND s = 'a' AND n BETWEEN -1 AND 7 AND n >= 4 AND n < 8");
  EXPECT_EQ(printed("NOT (u > 5 AND u < 6)"), "u NOT BETWEEN 6 AND 5");
  // Elements of an array may satisfy one end each, and no number is beyond those of its type.
  for (const std::string& text :
       Listed("n > 1 OR n < 9 | n > 1 AND u < 9 | f > 1 AND f < 9 | s > '1' AND s < '9' | "
              "a > 1 AND a < 9 | j > 1 AND j < 9 | n > 1 AND NOT n > 9 | u >= 1 AND u < 0 | "
              "n > 9223372036854775807 AND n < 0 | n > 0 AND n < -9223372036854775808")) {
    EXPECT_EQ(printed(text), text);
  }
}

TEST(PredicateParserTest, ErrorsSayWhereAndWhatWasExpected) {
  const std::vector<BadText> cases{
      {"", 1, "expected a column, NOT or '(', found the end"},
      {"pkg", 4, "expected an operator (=,"},
      {"pkg =", 6, "expected a number or a string in single quotes, found the end"},
      {"pkg = bash", 7, "found 'bash'"},
      {"pkg = 'bash", 7, "found 'bash, which has no closing quote"},
      {"\"pkg = 5", 1, "no closing quote"},
      {"pkgg = 'x'", 1, "unknown column 'pkgg'; known: pkg, n, f, words"},
      {"n = 1 AND PKG = 'x'", 11, "unknown column 'PKG'"},
      {"n = 'x'", 5, "column 'n' is int and cannot be compared with the string 'x'"},
      {"n = ' 5'", 5, "cannot be compared with the string ' 5'"},
      {"f IN (1, 'x')", 10, "column 'f' is float and cannot be compared with the string 'x'"},
      {"pkg = 5", 7,
       "column 'pkg' is bytes and cannot be compared with the number 5; in single "
       "quotes it is text"},
      {"n BETWEEN 1 OR 2", 13, "expected AND, found 'OR'"},
      {"n IN 1", 6, "expected '('"},
      {"n IN ()", 7, "expected a number or a string"},
      {"n IN (1", 8, "expected ',' or ')', found the end"},
      {"n IN (1,)", 9, "expected a number"},
      {"n = NULL", 5, "use IS NULL for missing ones"},
      {"n IS 5", 6, "expected NOT, NULL or MISSING"},
      {"n IS NOT 5", 10, "expected NULL or MISSING"},
      {"n NOT = 5", 7, "expected IN, BETWEEN, LIKE, STARTSWITH or HAS"},
      {"n LIKE 'x'", 8, "column 'n' is int, but LIKE needs a column of bytes"},
      {"n LIKE 5", 8, "expected a string in single quotes"},
      {"pkg LIKE 'x\\'", 10, "ends in a single backslash"},
      {"words HAS 'a b'", 11, "needs a single word of letters and digits, not 'a b'"},
      {"n = 5 5", 7, "expected AND, OR or the end, found '5'"},
      {"(n = 5", 7, "expected AND, OR or ')', found the end"},
      {"n = 5 AND", 10, "expected a column"},
      {"AND n = 5", 1, "expected a column, NOT or '(', found 'AND'"},
      {"in = 'x'", 1, "'in' is a keyword; write the column as \"in\""},
      {"5 = n", 1, "found '5'"},
      {"n = 12abc", 5, "found '12abc'"},
      {"n = --1", 5, "found '-'"},
      {"n ! 5", 3, "found '!'"},
      {"(n = 5) = 0", 9, "expected AND, OR or the end, found '='"},
      {std::string("n = 5\0", 6), 6, "expected AND, OR or the end"},
  };
  ExpectErrors<Predicate>(AllColumns(), cases);
  EXPECT_NE(Predicate::Parse("x = 1", {}).status().message().find("there are no columns"),
            std::string::npos);
}

TEST(PredicateParserTest, BoundsDepthAndLength) {
  const auto nested = [](size_t depth, std::string_view open, std::string_view close) {
    std::string text;
    for (size_t i = 0; i < depth; ++i) text += open;
    text += "n = 1";
    for (size_t i = 0; i < depth; ++i) text += close;
    return text;
  };
  EXPECT_TRUE(Predicate::Parse(nested(Predicate::kMaxDepth, "(", ")"), AllColumns()).ok());
  EXPECT_TRUE(Predicate::Parse(nested(Predicate::kMaxDepth, "NOT ", ""), AllColumns()).ok());
  EXPECT_TRUE(Predicate::Parse(nested(49, "(n = 2 OR n = 3 AND ", ")"), AllColumns()).ok());
  for (const std::string& text :
       {nested(Predicate::kMaxDepth + 1, "(", ")"), nested(100'000, "(", ""),
        nested(100'000, "NOT ", ""), nested(100'000, "NOT (", ")"),
        nested(90, "(n = 2 OR n = 3 AND ", ")")}) {
    const Result<Predicate> predicate = Predicate::Parse(text, AllColumns());
    ASSERT_FALSE(predicate.ok());
    EXPECT_NE(predicate.status().message().find("nested deeper than 100"), std::string::npos);
  }

  std::string wide = "n = 0";
  while (wide.size() + 20 < Predicate::kMaxTextBytes) wide += " OR n = 1 AND n = 2";
  EXPECT_TRUE(Predicate::Parse(wide, AllColumns()).ok());
  wide.append(Predicate::kMaxTextBytes + 1 - wide.size(), ' ');
  size_t position = 0;
  EXPECT_FALSE(Predicate::Parse(wide, AllColumns(), &position).ok());
  EXPECT_EQ(position, Predicate::kMaxTextBytes + 1);
}

const std::vector<Column>& QueryColumns() {
  static const std::vector<Column> columns =
      MakeColumns({"n=int:1", "order=field:2", "limit=int:3", "w=words:4"});
  return columns;
}

Query Parsed(std::string_view text) { return Must(Query::Parse(text, QueryColumns())); }

TEST(QueryTest, HasAnOptionalConditionOrderAndLimit) {
  const Query query = Parsed("n > 5 ORDER BY n DESC LIMIT 10");
  EXPECT_EQ(query.predicate.ToText(), "n > 5");
  ASSERT_TRUE(query.order);
  EXPECT_EQ(query.order->column.name(), "n");
  EXPECT_TRUE(query.order->is_descending);
  EXPECT_EQ(query.limit, 10u);
  EXPECT_EQ(Parsed("n > 5").limit, 0u);
  EXPECT_FALSE(Parsed("n > 5 LIMIT 3").order);
  EXPECT_EQ(Parsed("order by n asc limit 3").predicate.ToText(), "TRUE");
  EXPECT_FALSE(Parsed("ORDER BY n LIMIT 3").order->is_descending);
  EXPECT_EQ(Parsed("LIMIT 1e3").limit, 1000u);
}

TEST(QueryTest, KeywordsCanBeColumnNames) {
  EXPECT_EQ(Parsed("order = 'x' AND limit = 5 ORDER BY order LIMIT 1").predicate.ToText(),
            "order = 'x' AND limit = 5");
  EXPECT_EQ(Parsed("limit > 5 LIMIT 7").limit, 7u);
  EXPECT_EQ(Parsed("\"order\" LIKE 'x%' ORDER BY \"limit\" LIMIT 1").order->column.name(), "limit");
}

TEST(QueryTest, ErrorsNameThePosition) {
  const std::vector<BadText> cases = {
      {"", 1, "expected a column"},
      {"ORDER BY", 9, "expected a column"},
      {"ORDER BY n", 11, "expected LIMIT, which ORDER BY requires"},
      {"ORDER BY x LIMIT 1", 10, "unknown column 'x'"},
      {"ORDER BY w LIMIT 1", 10, "is indexed by tokens, which have no order"},
      {"n = 1 LIMIT 0", 13, "a number of rows, 1 or more"},
      {"n = 1 LIMIT 1.5", 13, "a number of rows, 1 or more"},
      {"n = 1 LIMIT 1 AND n = 2", 15, "expected the end"},
      {"n = 1 GROUP BY n", 7, "expected AND, OR, ORDER BY, LIMIT or the end"},
  };
  ExpectErrors<Query>(QueryColumns(), cases);
}

}  // namespace
}  // namespace blocksieve::testing
