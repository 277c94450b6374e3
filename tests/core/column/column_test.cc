// SPDX-License-Identifier: Apache-2.0
#include <random>

#include "lib/column/definition.h"
#include "tests/core/column/test_columns.h"
#include "tests/support/test_locale.h"

namespace blocksieve::testing {
namespace {

using namespace std::string_literals;

TEST(ColumnTest, FieldsAndFixedParts) {
  EXPECT_EQ(Indexed("c=field:1", "a\tb\tc"), Texts{"a"});
  EXPECT_EQ(Indexed("c=field:2", "a\tb\tc"), Texts{"b"});
  EXPECT_EQ(Indexed("c=field:3", "a\tb\tc"), Texts{"c"});
  EXPECT_EQ(Indexed("c=field:4", "a\tb\tc"), kMissing);
  EXPECT_EQ(Indexed("c=field(,):2", "a\tb,c"), Texts{"c"});
  EXPECT_EQ(Indexed("c=value", "a\tb"), Texts{"a\tb"});
  // An empty text is a value.
  EXPECT_EQ(Indexed("c=field:1", ""), Texts{""});
  EXPECT_EQ(Indexed("c=value", ""), Texts{""});
  EXPECT_EQ(Indexed("c=field:2", ""), kMissing);
  EXPECT_EQ(Indexed("c=field:2", "a\t"), Texts{""});
  EXPECT_EQ(Indexed("c=field:2", "a\t\tb"), Texts{""});
  EXPECT_EQ(Indexed("c=fixed(2,3)", "abcdef"), Texts{"cde"});
  EXPECT_EQ(Indexed("c=fixed(2,4)", "abcdef"), Texts{"cdef"});
  EXPECT_EQ(Indexed("c=fixed(2,5)", "abcdef"), kMissing);
  EXPECT_EQ(Indexed("c=fixed(1073741824,1073741824)", "abcdef"), kMissing);
  EXPECT_EQ(Indexed("c=int:fixed(1,2)", "x-7y"), Texts{"-7"});
}

TEST(ColumnTest, TextMustBeANumberAsAWhole) {
  for (const auto& [text, value] : {std::pair("-5", "-5"),
                                    {"007", "7"},
                                    {"-0", "0"},
                                    {"9223372036854775807", "9223372036854775807"},
                                    {"-9223372036854775808", "-9223372036854775808"}}) {
    EXPECT_EQ(Indexed("c=int:1", text), Texts{value});
  }
  for (const std::string_view text : {"", " 5", "5 ", "+5", "5.0", "0x5", "5e0", "--5", "abc",
                                      "9223372036854775808", "-9223372036854775809"}) {
    EXPECT_EQ(Indexed("c=int:1", text), kMissing) << text;
  }
  EXPECT_EQ(Indexed("c=uint:1", "18446744073709551615"), Texts{"18446744073709551615"});
  for (const std::string_view text : {"-1", "-0", "18446744073709551616", ""}) {
    EXPECT_EQ(Indexed("c=uint:1", text), kMissing) << text;
  }
}

TEST(ColumnTest, FloatsRoundAndSaturate) {
  for (const auto& [text, value] : {std::pair("1.50", "1.5"),
                                    {"-0.0", "0"},
                                    {".5", "0.5"},
                                    {"1e400", "inf"},
                                    {"-1e400", "-inf"},
                                    {"1e-400", "0"},
                                    {"-0.001e-400", "0"},
                                    {"0.0001e400", "inf"},
                                    {"-INF", "-inf"},
                                    {"NaN", "nan"},
                                    {"-nan", "nan"},
                                    {"9007199254740993", "9007199254740992"},
                                    {"1e99999999999999999999", "inf"},
                                    {"1e-99999999999999999999", "0"}}) {
    EXPECT_EQ(Indexed("c=float:1", text), Texts{value}) << text;
  }
  for (const std::string_view text : {"", "1,5", "+1", "0x1p3", "1e", "."}) {
    EXPECT_EQ(Indexed("c=float:1", text), kMissing) << text;
  }
}

TEST(ColumnTest, BinaryNumbersOfEitherOrder) {
  const std::string row = "\xff\x01\x02\x03\x04\x05\x06\x07\xf8"s;
  EXPECT_EQ(Indexed("c=int8(0)", row), Texts{"-1"});
  EXPECT_EQ(Indexed("c=uint8(0)", row), Texts{"255"});
  EXPECT_EQ(Indexed("c=uint16le(1)", row), Texts{"513"});
  EXPECT_EQ(Indexed("c=uint16be(1)", row), Texts{"258"});
  EXPECT_EQ(Indexed("c=int16be(0)", row), Texts{"-255"});
  EXPECT_EQ(Indexed("c=uint32be(1)", row), Texts{"16909060"});
  EXPECT_EQ(Indexed("c=uint64le(1)", row), Texts{"17872260264855011841"});
  EXPECT_EQ(Indexed("c=int64le(1)", row), Texts{"-574483808854539775"});
  EXPECT_EQ(Indexed("c=int64le(2)", row), kMissing);
  EXPECT_EQ(Indexed("c=float32le(0)", "\x00\x00\xc0\xbf"s), Texts{"-1.5"});
  EXPECT_EQ(Indexed("c=float64be(0)", "\xc0\x04\0\0\0\0\0\0"s), Texts{"-2.5"});
  EXPECT_EQ(Indexed("c=float64be(0)", "\x80\0\0\0\0\0\0\0"s), Texts{"0"});
  EXPECT_EQ(Indexed("c=float64be(0)", "\xff\xf8\0\0\0\0\0\1"s), Texts{"nan"});
}

TEST(ColumnTest, PartsOfTheKey) {
  const std::string key = "cpu:7\x80\x00\x00\x05"s;
  const Row row(key, "a\tb");
  EXPECT_EQ(Indexed("c=key:fixed(0,3)", row), Texts{"cpu"});
  EXPECT_EQ(Indexed("c=int:key:field(:):2", Row("cpu:7", "")), Texts{"7"});
  EXPECT_EQ(Indexed("c=words:key:all", Row("cpu:7", "x")), (Texts{"cpu", "7"}));
  EXPECT_EQ(Indexed("c=key:uint32be(-4)", row), Texts{"2147483653"});
  EXPECT_EQ(Indexed("c=key:ordered_int32be(-4)", row), Texts{"5"});
  EXPECT_EQ(Indexed("c=key:descending_uint16be(-2)", row), Texts{"65530"});
  EXPECT_EQ(Indexed("c=key:descending_ordered_int32be(-4)", row), Texts{"-6"});
  EXPECT_EQ(Indexed("c=field:2", row), Texts{"b"});
  EXPECT_EQ(Indexed("c=fixed(-3,1)", row), Texts{"a"});
  EXPECT_EQ(Indexed("c=fixed(-4,1)", row), kMissing);
  EXPECT_EQ(Indexed("c=key:uint8(0)", "a value alone"), kMissing);
}

TEST(ColumnTest, ArraysSplit) {
  EXPECT_EQ(Indexed("c=field[,]:2", "x\ta,b,,a"), (Texts{"a", "b", "", "a"}));
  EXPECT_EQ(Indexed("c=field[,]:2", "x\ta,"), (Texts{"a", ""}));
  EXPECT_EQ(Indexed("c=field[,]:2", "x\t,"), (Texts{"", ""}));
  EXPECT_EQ(Indexed("c=field[,]:2", "x\t"), kMissing);
  EXPECT_EQ(Indexed("c=int:field[,]:2", "x\t3,-1,x,,2"), (Texts{"3", "-1", "2"}));
  EXPECT_EQ(Indexed("c=int:field[,]:2", "x\tx,,y"), kMissing);
  EXPECT_EQ(Indexed("c=value[ ]", "to be"), (Texts{"to", "be"}));
  EXPECT_EQ(Indexed("c=fixed(0,3)[,]", "a,bc"), (Texts{"a", "b"}));
}

TEST(ColumnTest, WordsAreRunsOfLettersAndDigits) {
  EXPECT_EQ(Indexed("c=words:1", "/usr/lib64/libfoo-2.so"),
            (Texts{"usr", "lib64", "libfoo", "2", "so"}));
  EXPECT_EQ(Indexed("c=words:1", "ABC abc"), (Texts{"ABC", "abc"}));
  EXPECT_EQ(Indexed("c=words:1", "a_b[c`d{e@f"), (Texts{"a", "b", "c", "d", "e", "f"}));
  EXPECT_EQ(Indexed("c=words:1", "--"), Texts{}) << "present, but without words";
  EXPECT_EQ(Indexed("c=words:1", ""), Texts{});
  EXPECT_EQ(Indexed("c=words:2", "a"), kMissing);
  EXPECT_EQ(Indexed("c=words:field[;]:1", "a b;c"), (Texts{"a", "b", "c"}));
  EXPECT_EQ(Indexed("c=words:1", "“quoted” foo—bar…"), (Texts{"quoted", "foo", "bar"}));
  EXPECT_EQ(Indexed("c=words:1", "a\u00a0b\u2003c\u3000d，e\u0085f\U0001091fg\u007f"),
            (Texts{"a", "b", "c", "d", "e", "f", "g"}));
  EXPECT_EQ(Indexed("c=words:1", "東京、20°C हिन्दी 🙂"),
            (Texts{"東京", "20°C", "हिन्दी", "🙂"}));
  // Not UTF-8: overlong forms of U+00A0, parts of a dash.
  EXPECT_EQ(
      Indexed("c=words:1", "a\xe0\x82\xa0z \xf0\x80\x82\xa0 a\xe2\x80z \x94\xe2\xe2\x80\x94\x80"),
      (Texts{"a\xe0\x82\xa0z", "\xf0\x80\x82\xa0", "a\xe2\x80z", "\x94\xe2", "\x80"}));
}

TEST(ColumnTest, FoldedTextsHaveNoCase) {
  EXPECT_EQ(Indexed("c=folded:value[ ]", "ÄẞßΣς İıI \u212aЖ\u017f ȺⱥDž 𐐀𐐨"),
            (Texts{"äßßσσ", "İıi", "kжs", "ⱥⱥdž", "𐐨𐐨"}));
  EXPECT_EQ(Indexed("c=words:folded:json:/a", R"({"a":["Ä É",7]})"), (Texts{"ä", "é", "7"}));
  EXPECT_EQ(Indexed("c=ngrams(2):folded:key:all", Row("AȺ\u212a", "B")), (Texts{"aⱥ", "ⱥk"}));
  // Not UTF-8: an overlong A, and parts of characters.
  EXPECT_EQ(Indexed("c=folded:1", "A\xc1\x81\xc3Q\xe2\xb1\x89\xf0"),
            Texts{"a\xc1\x81\xc3q\xe2\xb1\x89\xf0"});
}

TEST(ColumnTest, NgramsAreOfCharacters) {
  EXPECT_EQ(Indexed("c=ngrams(3):1", "abcde"), (Texts{"abc", "bcd", "cde"}));
  EXPECT_EQ(Indexed("c=ngrams(3):1", "abc"), Texts{"abc"});
  EXPECT_EQ(Indexed("c=ngrams(3):1", "ab"), Texts{});
  EXPECT_EQ(Indexed("c=ngrams(1):1", "aa"), (Texts{"a", "a"}));
  EXPECT_EQ(Indexed("c=ngrams(2):1", "a\xc3\xa9\xe6\x97\xa5z"),
            (Texts{"a\xc3\xa9", "\xc3\xa9\xe6\x97\xa5", "\xe6\x97\xa5z"}));
  // Not UTF-8: a stray byte is a character, and so is an unfinished one.
  EXPECT_EQ(Indexed("c=ngrams(1):1", "\x80\xe6\x97z\xff\xc3\xa9\xa9"),
            (Texts{"\x80", "\xe6\x97", "z", "\xff", "\xc3\xa9", "\xa9"}));
}

TEST(ColumnTest, VisitorsCanStop) {
  for (const std::string_view definition :
       {"c=field[,]:1", "c=words:1", "c=ngrams(1):1", "c=words:field[;]:1"}) {
    size_t calls = 0;
    EXPECT_TRUE(internal::ForEachIndexed(MakeColumn(definition), "a,b;c d,e", [&](const Value&) {
      return ++calls < 2;
    })) << definition;
    EXPECT_EQ(calls, 2u) << definition;
  }
}

TEST(ColumnJsonTest, NumbersCountIfTheyAreExactlyOfTheType) {
  const std::string_view row =
      R"([-1, 2.5, 3.0, 4e2, "5", "x", 9223372036854775808, 1e30, true, 9007199254740993.0, -0.0])";
  EXPECT_EQ(Indexed("c=int:json:", row), (Texts{"-1", "3", "400", "5", "9007199254740993", "0"}));
  EXPECT_EQ(Indexed("c=uint:json:", row),
            (Texts{"3", "400", "5", "9223372036854775808", "9007199254740993", "0"}));
  EXPECT_EQ(Indexed("c=float:json:", row),
            (Texts{"-1", "2.5", "3", "400", "5", "9223372036854775808", "1e+30", "9007199254740992",
                   "0"}));
}

// Some locales have another decimal point, this one of two bytes.
TEST(ColumnJsonTest, DoesNotDependOnTheLocale) {
  const TestLocale locale("ps_AF");
  ASSERT_NE(TestLocale::DecimalPoint(), ".");
  const std::string_view row = R"({"b":1.5e-3,"a":[1.5,-2.25e2]})";
  EXPECT_EQ(Indexed("c=json:/a", row), (Texts{"1.5", "-2.25e2"}));
  EXPECT_EQ(Indexed("c=float:json:/a", row), (Texts{"1.5", "-225"}));
  EXPECT_EQ(Indexed("c=int:json:/a", row), Texts{"-225"});
  EXPECT_EQ(Indexed("c=json:/a", R"({"b":1.5e400,"a":1})"), kMissing);
  ASSERT_NE(TestLocale::DecimalPoint(), ".") << "the thread's locale is unchanged";
}

TEST(ColumnJsonTest, FirstOfEqualNamesWins) {
  EXPECT_EQ(Indexed("c=json:/a", R"({"a":1,"a":2})"), Texts{"1"});
  EXPECT_EQ(Indexed("c=json:/a/b", R"({"a":{"c":1},"a":{"b":2}})"), kMissing);
  EXPECT_EQ(Indexed("c=json:/a", R"({"a":1,)"), Texts{"1"});
}

TEST(ColumnJsonTest, InvalidJsonEndsTheRow) {
  for (const std::string_view row :
       {"", "{", "{]", "nul", "{\"b\":\x01,\"a\":1}", "{\"b\":\"\xff\",\"a\":1}", "{b:1,\"a\":1}",
        "{\"a\":", "{\"a\":}", "{\"a\":\"x", "\xef\xbb", "{\"b\":1e400,\"a\":1}"}) {
    EXPECT_EQ(Indexed("c=json:/a", row), kMissing) << row;
  }
}

TEST(ColumnJsonTest, BoundsTheDepth) {
  const auto nested = [](size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  const auto row = [&](size_t depth) { return "{\"x\":" + nested(depth) + ",\"a\":1}"; };
  EXPECT_EQ(Indexed("c=json:/a", row(Column::kMaxJsonDepth - 1)), Texts{"1"});
  EXPECT_EQ(Indexed("c=json:/a", row(Column::kMaxJsonDepth)), kMissing);
  EXPECT_EQ(Indexed("c=json:/a", row(1'000'000)), kMissing);
  EXPECT_EQ(Indexed("c=json:/a", std::string(1'000'000, '[')), kMissing);
}

// JSON with the names of the columns and other names.
std::string Document(std::mt19937_64* random, int depth = 0) {
  const auto pick = [&](const std::vector<std::string>& from) {
    return from[(*random)() % from.size()];
  };
  const size_t kind = (*random)() % (depth < 4 ? 8 : 3);
  if (kind < 3) {
    return pick({"1", "-1", "0", "-0", "2.5", "3.0", "1e3", "18446744073709551615",
                 "-9223372036854775808", "true", "false", "null", "\"\"", "\"text\"", "\"7\"",
                 "\"nan\"", "1e400", "tru", "\"open"});
  }
  const bool is_array = kind == 3;
  std::string text(1, is_array ? '[' : '{');
  const size_t size = (*random)() % 4;
  for (size_t i = 0; i < size; ++i) {
    if (i != 0) text += ',';
    if (!is_array) text += "\"" + pick({"a", "b", "c", "t", "n", "x", "", "0", "1"}) + "\":";
    text += Document(random, depth + 1);
  }
  return text + (is_array ? "]" : "}");
}

// Columns that are read together have the same values as each alone.
TEST(ColumnSetTest, AgreesWithItsColumns) {
  const std::vector<Column> columns = MakeColumns({
      "root=json:",        "a=json:/a",          "ab=int:json:/a/b", "abc=float:json:/a/b/c",
      "a0=uint:json:/a/0", "a1=json:/a/1",       "a10=json:/a/1/0",  "ab_too=bytes:json:/a/b",
      "t=json:/t",         "t0=json:/t/0",       "w=words:json:/t",  "g=ngrams(3):json:/a/b",
      "n=int:json:/n",     "u=uint:json:/n",     "f=float:json:/n",  "s=bytes:json:/n",
      "empty=json:/",      "leading=json:/t/01", "field=field:2",    "v=value",
  });
  internal::ColumnSet set(columns);
  std::mt19937_64 random(1);
  size_t with_values = 0;
  for (int i = 0; i < 40'000; ++i) {
    const std::string row = Document(&random);
    std::vector<Texts> together(columns.size());
    set.ForEachIndexed(row, [&](size_t column, const Value& value) {
      together[column].push_back(value.ToText());
      return true;
    });
    for (size_t c = 0; c < columns.size(); ++c) {
      const Texts alone = Indexed(columns[c], row);
      ASSERT_EQ(together[c], alone == kMissing ? Texts() : alone) << columns[c].name() << row;
      with_values += !together[c].empty();
    }
  }
  EXPECT_GT(with_values, 40'000u);
}

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
              "a=value[\\t] | \xc3\xa9=json:/\xc3\xa9=:, | k=key:all | k=words:key:all | "
              "k=int:key:field(:):3 | k=key:field(:)[,]:3 | k=key:fixed(-16,8) | f=fixed(-1,1) | "
              "k=bounds:key:uint64be(8) | k=key:ordered_int64be(-8) | b=descending_uint64be(0) | "
              "k=key:descending_ordered_int16le(2) | j=json:/a:key:/b | f=folded:2 | "
              "f=folded:field(,)[;]:2 | k=words:folded:key:all | g=ngrams(4):folded:json:/a")) {
    const Result<Column> column = Column::Parse(text);
    ASSERT_TRUE(column.ok()) << column.status().message();
    EXPECT_EQ(column->ToText(), text);
    EXPECT_EQ(column->name(), text.substr(0, text.find('=')));
    EXPECT_EQ(MakeColumn(column->ToText()), *column);
    EXPECT_EQ(internal::IsOfKey(column->key()), column->is_of_key()) << text;
    EXPECT_EQ(column->is_of_key(), text.starts_with("k="));
  }
}

TEST(ColumnDefinitionTest, EveryCombinationReadsBack) {
  uint64_t valid = 0;
  for (const std::string parts : {"", "both:", "filters:", "bounds:"}) {
    for (const std::string type : {"", "bytes:", "int:", "float:", "words:folded:", "ngrams(3):"}) {
      for (const std::string of : {"", "key:"}) {
        for (const std::string source :
             {"2", "field:2", "field(,):2", "field[;]:2", "field(,)[;]:2", "value", "all", "all[,]",
              "fixed(0,8)", "fixed(-8,8)[,]", "json:/a", "uint16le(0)", "ordered_int64be(-8)"}) {
          const Result<Column> column = Column::Parse("c=" + parts + type + of + source);
          if (!column.ok()) continue;
          ++valid;
          const Result<Column> again = Column::Parse(column->ToText());
          ASSERT_TRUE(again.ok()) << parts << type << of << source << ": " << column->ToText();
          EXPECT_EQ(*again, *column);
        }
      }
    }
  }
  EXPECT_GT(valid, 300u);
}

TEST(ColumnDefinitionTest, HasOneSpelling) {
  EXPECT_EQ(MakeColumn("n=int:field:5").ToText(), "n=int:5");
  EXPECT_EQ(MakeColumn("n=bytes:field:5").ToText(), "n=field:5");
  EXPECT_EQ(MakeColumn("n=bytes:5").ToText(), "n=field:5");
  EXPECT_EQ(MakeColumn("n=bytes:folded:field:5").ToText(), "n=folded:5");
  EXPECT_EQ(MakeColumn("n=field(\\x2c):5").ToText(), "n=field(,):5");
  EXPECT_EQ(MakeColumn("n=field(\\x09):5").ToText(), "n=field:5");
  // A delimiter is named unless it is a tab.
  EXPECT_EQ(MakeColumn("n=int:5", ',').ToText(), "n=int:field(,):5");
  EXPECT_EQ(MakeColumn("n=field:5", ',').ToText(), "n=field(,):5");
  EXPECT_EQ(MakeColumn("n=field(;):5", ',').ToText(), "n=field(;):5");
  EXPECT_EQ(MakeColumn("n=field(\\t):5", ',').ToText(), "n=field:5");
}

TEST(ColumnDefinitionTest, EqualMeansTheSameDefinition) {
  EXPECT_EQ(MakeColumn("a=field:1"), MakeColumn("a=field:1"));
  EXPECT_NE(MakeColumn("a=field:1"), MakeColumn("b=field:1"));
  EXPECT_NE(MakeColumn("a=field:1"), MakeColumn("a=field:2"));
  EXPECT_NE(MakeColumn("a=field:1"), MakeColumn("a=words:1"));
  EXPECT_NE(MakeColumn("a=field:1"), MakeColumn("a=field:1", ','));
}

TEST(ColumnDefinitionTest, RejectsInvalidTextWithAReason) {
  const std::string long_name(Column::kMaxNameBytes + 1, 'n');
  std::string deep = "j=json:";
  for (size_t i = 0; i <= Column::kMaxJsonDepth; ++i) deep += "/a";
  Texts texts = Listed(
      "field:2 | =field:2 | a\"b=field:2 | a\x1f=field:2 | p=field:0 | p=field:1000001 | "
      "p=field:99999999999999999999 | p=field: | p=field:-1 | p=field:2  | p=2 | p=field(,:2 | "
      "p=field(,,):2 | p=field():2 | p=field(\\q):2 | p=field(\t):2 | p=field(;)[;]:2 | "
      "p=field[\\t]:2 | p=field[]:2 | p=value:1 | p=fixed(1) | p=fixed(1,0) | p=fixed(1,2 | "
      "p=fixed(1073741825,2) | p=json:a | p=json:/~2 | p=json:/~ | p=json:/a\n | p=int32(0) | "
      "p=int8le(0) | p=float16le(0) | p=int:int32le(0) | p=ngrams(0):1 | p=ngrams(33):1 | "
      "p=ngrams:1 | p=words:int:1 | p=text:1 | p=field[,]:2x | p=json/a | "
      "p=key:json:/a | p=key: | p=key:value | p=all | p=fixed(-3,4) | p=uint64be(-7) | "
      "p=fixed(-0,1) | p=ordered_uint8(0) | p=descending_float32le(0) | "
      "p=ordered_descending_int8(0) | p=int:ordered_int8(0) | p=int:folded:1 | p=folded:words:1 | "
      "p=folded:int8(0) | "
      "p=folded:folded:1 | p=key:folded:1");
  texts.insert(texts.end(), {"", deep, long_name + "=field:1"});
  for (const std::string& text : texts) {
    const Result<Column> column = Column::Parse(text);
    ASSERT_FALSE(column.ok()) << text;
    EXPECT_EQ(column.status().code(), StatusCode::kInvalidArgument);
    EXPECT_NE(column.status().message().find("'" + text.substr(0, 30)), std::string::npos);
    EXPECT_NE(column.status().message().find(": expected "), std::string::npos);
  }
}

}  // namespace
}  // namespace blocksieve::testing
