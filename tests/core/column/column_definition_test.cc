#include <gtest/gtest.h>

#include "lib/column/values.h"
#include "tests/core/column/test_columns.h"

namespace blocksieve::testing {
namespace {

TEST(ColumnDefinitionTest, ReadsBackAsWritten) {
  for (const std::string& text :
       Listed("pkg=field:2 | all=value | f=fixed(8,4) | j=json:/a/b | j=json: | "
              "j=json:/a~1b/~0/0/ | n=int:5 | n=uint:5 | n=float:6 | w=words:3 | g=ngrams(4):3 | "
              "g=ngrams(32):1000000 | b=int8(0) | b=uint8(7) | b=int16le(1) | b=uint32be(2) | "
              "b=int64be(1073741824) | b=float32le(0) | b=float64be(3) | c=field(,):2 | "
              "a=field[;]:2 | a=field(,)[;]:2 | a=int:field[,]:2 | a=int:field(;):2 | a=value[ ] | "
              "a=fixed(0,8)[,] | w=words:value | w=words:json:/title | w=words:field[;]:1 | "
              "g=ngrams(3):fixed(0,9) | n=int:json:/age | n=uint:fixed(0,8) | d=field(\\n):1 | "
              "d=field(\\\\):1 | d=field(\\x00)[\\xff]:1 | d=field())[]]:1 | a b.c=field:1 | "
              "a=value[\\t] | \xc3\xa9=json:/\xc3\xa9=:,")) {
    const Result<Column> column = Column::Parse(text);
    ASSERT_TRUE(column.ok()) << column.status().message();
    EXPECT_EQ(column->ToText(), text);
    EXPECT_EQ(column->name(), text.substr(0, text.find('=')));
    EXPECT_EQ(MakeColumn(column->ToText()), *column);
  }
}

TEST(ColumnDefinitionTest, HasOneSpelling) {
  EXPECT_EQ(MakeColumn("n=int:field:5").ToText(), "n=int:5");
  EXPECT_EQ(MakeColumn("n=bytes:field:5").ToText(), "n=field:5");
  EXPECT_EQ(MakeColumn("n=bytes:5").ToText(), "n=field:5");
  EXPECT_EQ(MakeColumn("n=field(\\x2c):5").ToText(), "n=field(,):5");
  EXPECT_EQ(MakeColumn("n=field(\\x09):5").ToText(), "n=field:5");
}

TEST(ColumnDefinitionTest, KeepsADelimiterThatIsNotTab) {
  EXPECT_EQ(MakeColumn("n=int:5", ',').ToText(), "n=int:field(,):5");
  EXPECT_EQ(MakeColumn("n=field:5", ',').ToText(), "n=field(,):5");
  EXPECT_EQ(MakeColumn("n=field(;):5", ',').ToText(), "n=field(;):5");
  EXPECT_EQ(MakeColumn("n=field(\\t):5", ',').ToText(), "n=field:5");
}

TEST(ColumnDefinitionTest, RejectsInvalidTextWithAReason) {
  const std::string long_name(Column::kMaxNameBytes + 1, 'n');
  std::string deep = "j=json:";
  for (size_t i = 0; i <= Column::kMaxJsonDepth; ++i) deep += "/a";
  Texts texts = Listed(
      "field:2 | =field:2 | a\"b=field:2 | a\tb=field:2 | p=field:0 | p=field:1000001 | "
      "p=field:99999999999999999999 | p=field: | p=field:-1 | p=field:2  | p=2 | p=field(,:2 | "
      "p=field(,,):2 | p=field():2 | p=field(\\q):2 | p=field(\t):2 | p=field(;)[;]:2 | "
      "p=field[\\t]:2 | p=field[]:2 | p=value:1 | p=fixed(1) | p=fixed(1,0) | p=fixed(1,2 | "
      "p=fixed(1073741825,2) | p=json:a | p=json:/~2 | p=json:/~ | p=json:/a\n | p=int32(0) | "
      "p=int8le(0) | p=float16le(0) | p=int:int32le(0) | p=ngrams(0):1 | p=ngrams(33):1 | "
      "p=ngrams:1 | p=words:int:1 | p=text:1 | p=field[,]:2x | p=json/a");
  texts.insert(texts.end(), {"", deep, long_name + "=field:1"});
  for (const std::string& text : texts) {
    const Result<Column> column = Column::Parse(text);
    ASSERT_FALSE(column.ok()) << text;
    EXPECT_EQ(column.status().code(), StatusCode::kInvalidArgument);
    EXPECT_NE(column.status().message().find("'" + text.substr(0, 30)), std::string::npos);
    EXPECT_NE(column.status().message().find(": expected "), std::string::npos);
  }
}

TEST(ColumnDefinitionTest, ErrorsNameThePosition) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"field:2",
       "1: expected NAME=EXTRACTOR, with a NAME of 1 to 128 bytes without \" and control "
       "characters; found 'field:2'"},
      {"p=field:", "9: expected a number from 1 to 1000000; found the end"},
      {"p=field(\\q):2",
       "9: expected a delimiter: a byte, \\t, \\n, \\\\ or \\xHH; found '\\q):2'"},
      {"p=field(;)[;]:2",
       "14: expected an element delimiter other than the field delimiter; found ':2'"},
      {"p=text:1",
       "3: expected a known extractor (field, value, fixed, json, bytes, int, uint, float, words, "
       "ngrams, int32le and the like); found 'text:1'"},
      {"p=words", "3: expected words:N; found 'words'"},
      {"p=ngrams(33):1", "10: expected a number from 1 to 32; found '33):1'"},
      {"p=bounds:words:1",
       "3: expected 'filters:' or no index part before words and n-grams; found 'bounds:words:1'"},
      {"p=json:/a/~2", "11: expected ~0 for ~ and ~1 for /; found '~2'"},
  };
  for (const auto& [text, error] : cases) {
    EXPECT_EQ(Column::Parse(text).status().message(),
              "column definition '" + std::string(text) + "', position " + std::string(error));
  }
}

TEST(ColumnDefinitionTest, EqualMeansTheSameDefinition) {
  EXPECT_EQ(MakeColumn("a=field:1"), MakeColumn("a=field:1"));
  EXPECT_NE(MakeColumn("a=field:1"), MakeColumn("b=field:1"));
  EXPECT_NE(MakeColumn("a=field:1"), MakeColumn("a=field:2"));
  EXPECT_NE(MakeColumn("a=field:1"), MakeColumn("a=words:1"));
  EXPECT_NE(MakeColumn("a=field:1"), MakeColumn("a=field:1", ','));
}

}  // namespace
}  // namespace blocksieve::testing
