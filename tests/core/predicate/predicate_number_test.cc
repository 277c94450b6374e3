#include <gtest/gtest.h>

#include <limits>

#include "lib/column/value_number.h"
#include "tests/core/column/test_columns.h"

// Literals in any spelling with columns of any number type.

namespace blocksieve {
namespace {

using testing::MakeColumns;

std::vector<Column> ColumnOf(std::string_view type) {
  return {testing::MakeColumn("n=" + std::string(type) + ":1")};
}

void ExpectAll(std::string_view type, std::string_view row, std::string_view conditions) {
  testing::ExpectEach(true, ColumnOf(type), row, conditions);
}
void ExpectNone(std::string_view type, std::string_view row, std::string_view conditions) {
  testing::ExpectEach(false, ColumnOf(type), row, conditions);
}

TEST(PredicateNumber, IntegersAreNotConvertedToDouble) {
  ExpectNone("int", "9007199254740993", "n = 9007199254740992 | n > 9007199254740993.0");
  ExpectAll("int", "9007199254740993", "n > 9007199254740992 | n > 9007199254740992.9");
}

TEST(PredicateNumber, FloatsHaveOneZeroAndOneNan) {
  ExpectAll("float", "-0.0", "n = 0");
  ExpectAll("float", "0", "n = -0.0");
  ExpectNone("float", "-0.0", "n < 0");
  ExpectAll("float", "nan", "n = NaN | n > inf");
  ExpectAll("float", "-nan", "n = nan");
  ExpectNone("float", "inf", "n > INFINITY");
  ExpectAll("float", "-inf", "n = -Infinity");
  ExpectNone("float", "nan", "n <= 1e308");
  ExpectAll("float", "0.1", "n = 0.1 | n = 1e-1");
  ExpectAll("float", "9007199254740993", "n = 9007199254740993");
  ExpectAll("float", "3", "n IN (1, 2, 3)");
  ExpectAll("float", "0.5", "n BETWEEN .5 AND 1.");
  ExpectAll("float", "1e999", "n = inf");
}

TEST(PredicateNumber, ValuesInCxxAreAsExact) {
  const std::vector<Column> columns = MakeColumns({"n=int:1", "u=uint:1", "f=float:1"});
  const Column& n = columns[0];
  EXPECT_TRUE(Predicate::Equals(n, Value::Uint(5))->Matches("5"));
  EXPECT_TRUE(Predicate::Equals(n, Value::Float(-5))->Matches("-5"));
  EXPECT_TRUE(Predicate::Less(n, Value::Float(1.5))->Matches("1"));
  EXPECT_TRUE(Predicate::Less(n, Value::Uint(~uint64_t{0}))->Matches("9223372036854775807"));
  EXPECT_TRUE(Predicate::Equals(columns[1], Value::Int(7))->Matches("7"));
  EXPECT_FALSE(Predicate::Equals(columns[1], Value::Int(-1))->Matches("18446744073709551615"));
  EXPECT_TRUE(Predicate::Equals(columns[2], Value::Float(std::numeric_limits<double>::quiet_NaN()))
                  ->Matches("nan"));
  // Its shortest text, 9223372036854775000, is another integer.
  const double below_two_to_63 = 9223372036854774784.0;
  EXPECT_TRUE(Predicate::Equals(n, Value::Float(below_two_to_63))->Matches("9223372036854774784"));
  EXPECT_FALSE(Predicate::Equals(n, Value::Float(below_two_to_63))->Matches("9223372036854775000"));
}

TEST(Decimal, IsExactAtAnyLength) {
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
}  // namespace blocksieve
