#include "blocksieve/predicate.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/core/column/test_columns.h"

namespace blocksieve::testing {
namespace {

const std::vector<Column>& Columns() {
  static const auto& columns =
      *new std::vector<Column>{MakeColumn("n=int:1"), MakeColumn("order=field:2"),
                               MakeColumn("limit=int:3"), MakeColumn("w=words:4")};
  return columns;
}

Query Parsed(const std::string& text) {
  Result<Query> query = Query::Parse(text, Columns());
  EXPECT_TRUE(query.ok()) << text << ": " << query.status().message();
  return query.ok() ? *std::move(query) : Query();
}

TEST(Query, HasAConditionAnOrderAndALimit) {
  const Query query = Parsed("n > 5 ORDER BY n DESC LIMIT 10");
  EXPECT_EQ(query.predicate.ToText(), "n > 5");
  ASSERT_TRUE(query.order);
  EXPECT_EQ(query.order->column.name(), "n");
  EXPECT_TRUE(query.order->is_descending);
  EXPECT_EQ(query.limit, 10u);
}

TEST(Query, AllPartsAreOptional) {
  EXPECT_EQ(Parsed("n > 5").limit, 0u);
  EXPECT_FALSE(Parsed("n > 5 LIMIT 3").order);
  EXPECT_EQ(Parsed("order by n asc limit 3").predicate.ToText(), "TRUE");
  EXPECT_FALSE(Parsed("ORDER BY n LIMIT 3").order->is_descending);
  EXPECT_EQ(Parsed("LIMIT 1e3").limit, 1000u);
}

TEST(Query, KeywordsCanBeColumnNames) {
  EXPECT_EQ(Parsed("order = 'x' AND limit = 5 ORDER BY order LIMIT 1").predicate.ToText(),
            "order = 'x' AND limit = 5");
  EXPECT_EQ(Parsed("limit > 5 LIMIT 7").limit, 7u);
  EXPECT_EQ(Parsed("\"order\" LIKE 'x%' ORDER BY \"limit\" LIMIT 1").order->column.name(), "limit");
}

TEST(Query, ErrorsNameThePosition) {
  const struct {
    std::string text;
    size_t position;
    std::string message;
  } cases[] = {
      {"", 1, "expected a column"},
      {"ORDER BY", 9, "expected a column"},
      {"ORDER BY n", 11, "expected LIMIT, which ORDER BY requires"},
      {"ORDER BY x LIMIT 1", 10, "unknown column 'x'"},
      {"ORDER BY w LIMIT 1", 10, "is indexed by tokens, which have no order"},
      {"n = 1 LIMIT 0", 13, "a number of rows, 1 or more"},
      {"n = 1 LIMIT -1", 13, "a number of rows, 1 or more"},
      {"n = 1 LIMIT 1.5", 13, "a number of rows, 1 or more"},
      {"n = 1 LIMIT 1 AND n = 2", 15, "expected the end"},
      {"n = 1 GROUP BY n", 7, "expected AND, OR, ORDER BY, LIMIT or the end"},
  };
  for (const auto& [text, position, message] : cases) {
    size_t error_position = 0;
    const Result<Query> query = Query::Parse(text, Columns(), &error_position);
    ASSERT_FALSE(query.ok()) << text;
    EXPECT_EQ(error_position, position) << text << ": " << query.status().message();
    EXPECT_NE(query.status().message().find(message), std::string::npos)
        << text << ": " << query.status().message();
  }
}

}  // namespace
}  // namespace blocksieve::testing
