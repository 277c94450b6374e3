#include <gtest/gtest.h>

#include "tests/core/column/test_columns.h"
#include "tests/support/test_locale.h"

namespace blocksieve {
namespace {

using testing::Indexed;
using testing::kMissing;
using testing::Texts;

TEST(ColumnJson, FindsTheMember) {
  const std::string_view row = R"( {"x":{"b":0,"a":9}, "a":{"c":[1,{"b":5}],"b":"yes","d":1},
                                    "l":[10,[20,21],{"k":"v"}], "":{"":7}, "m/n":1, "m~n":2} )";
  EXPECT_EQ(Indexed("c=json:/a/b", row), Texts{"yes"});
  EXPECT_EQ(Indexed("c=json:/x/b", row), Texts{"0"});
  EXPECT_EQ(Indexed("c=json:/l/0", row), Texts{"10"});
  EXPECT_EQ(Indexed("c=json:/l/1/1", row), Texts{"21"});
  EXPECT_EQ(Indexed("c=json:/l/2/k", row), Texts{"v"});
  EXPECT_EQ(Indexed("c=json:/a/c/1/b", row), Texts{"5"});
  EXPECT_EQ(Indexed("c=json:/a/d", row), Texts{"1"});
  EXPECT_EQ(Indexed("c=json://", row), Texts{"7"});
  EXPECT_EQ(Indexed("c=json:/m~1n", row), Texts{"1"});
  EXPECT_EQ(Indexed("c=json:/m~0n", row), Texts{"2"});
  EXPECT_EQ(Indexed("c=json:", "\"root\""), Texts{"root"});
  EXPECT_EQ(Indexed("c=json:", "[1,2]"), (Texts{"1", "2"}));
  for (const std::string_view pointer :
       {"/b", "/a/x", "/a/b/c", "/l/3", "/l/01", "/l/-", "/l/k", "/a", "/x", "", "/a/c/1"}) {
    EXPECT_EQ(Indexed("c=json:" + std::string(pointer), row), kMissing) << pointer;
  }
}

TEST(ColumnJson, NumbersCountIfTheyAreExactlyOfTheType) {
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
TEST(ColumnJson, DoesNotDependOnTheLocale) {
  const testing::TestLocale locale("ps_AF");
  ASSERT_NE(testing::TestLocale::DecimalPoint(), ".");
  const std::string_view row = R"({"b":1.5e-3,"a":[1.5,-2.25e2]})";
  EXPECT_EQ(Indexed("c=json:/a", row), (Texts{"1.5", "-2.25e2"}));
  EXPECT_EQ(Indexed("c=float:json:/a", row), (Texts{"1.5", "-225"}));
  EXPECT_EQ(Indexed("c=int:json:/a", row), Texts{"-225"});
  EXPECT_EQ(Indexed("c=json:/a", R"({"b":1.5e400,"a":1})"), kMissing);
  ASSERT_NE(testing::TestLocale::DecimalPoint(), ".") << "the thread's locale is unchanged";
}

TEST(ColumnJson, FirstOfEqualNamesWins) {
  EXPECT_EQ(Indexed("c=json:/a", R"({"a":1,"a":2})"), Texts{"1"});
  EXPECT_EQ(Indexed("c=json:/a/b", R"({"a":{"c":1},"a":{"b":2}})"), kMissing);
  EXPECT_EQ(Indexed("c=json:/a", R"({"a":1,)"), Texts{"1"});
}

TEST(ColumnJson, InvalidJsonEndsTheRow) {
  for (const std::string_view row :
       {"", "{", "{]", "nul", "{\"b\":\x01,\"a\":1}", "{\"b\":\"\xff\",\"a\":1}", "{b:1,\"a\":1}",
        "{\"a\":", "{\"a\":}", "{\"a\":\"x", "\xef\xbb", "{\"b\":1e400,\"a\":1}"}) {
    EXPECT_EQ(Indexed("c=json:/a", row), kMissing) << row;
  }
  const std::string_view good = R"({"x":[1,{"y":"\u00e9"}],"a":["b",2.5e1,null,true]})";
  for (size_t i = 0; i < good.size(); ++i) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string row(good);
      row[i] = static_cast<char>(byte);
      (void)Indexed("c=json:/a", row);
    }
    (void)Indexed("c=json:/a", good.substr(0, i));
  }
}

TEST(ColumnJson, BoundsTheDepth) {
  const auto nested = [](size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  const auto row = [&](size_t depth) { return "{\"x\":" + nested(depth) + ",\"a\":1}"; };
  EXPECT_EQ(Indexed("c=json:/a", row(Column::kMaxJsonDepth - 1)), Texts{"1"});
  EXPECT_EQ(Indexed("c=json:/a", row(Column::kMaxJsonDepth)), kMissing);
  EXPECT_EQ(Indexed("c=json:/a", row(1'000'000)), kMissing);
  EXPECT_EQ(Indexed("c=json:/a", std::string(1'000'000, '[')), kMissing);
}

}  // namespace
}  // namespace blocksieve
