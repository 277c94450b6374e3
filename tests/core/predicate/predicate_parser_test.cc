#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "blocksieve/predicate.h"
#include "tests/core/column/test_columns.h"

namespace blocksieve::testing {
namespace {

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
           "n = 1 AND n = 2 AND n = 3 | n = 1 OR n = 2 AND n = 3 | (n = 1 OR n = 2) AND n = 3 | "
           "NOT (n = 1 AND n = 2) | NOT (n = 1 OR n = 2) OR NOT (n = 3 AND TRUE) | g HAS 'a b'")) {
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
