#include "bench/support/results.h"

#include <gtest/gtest.h>

#include <limits>

namespace blocksieve::bench {
namespace {

TEST(ResultsTest, RowsHaveOneForm) {
  Results results("job");
  results.SetFact("input", "synthetic");
  results.Of("ours", {{"keys", 1000}, {"target", "1 %"}})
      .Add("size", "bytes", 12)
      .AddTurns("probe", "ns", {1.0, 2.0, 3.0})
      .AddTurns("build", "ns", {4.0});
  const Json file = Json::parse(results.Text());
  EXPECT_EQ(file["benchmark"], "job");
  EXPECT_EQ(file["facts"], Json({{"input", "synthetic"}}));
  ASSERT_EQ(file["rows"].size(), 3U);
  EXPECT_EQ(file["rows"][0].dump(), R"({"name":"ours","parameters":{"keys":1000,"target":"1 %"},)"
                                    R"("metric":"size","unit":"bytes","value":12.0})");
  EXPECT_EQ(file["rows"][1]["value"], 2.0);
  EXPECT_EQ(file["rows"][1]["spread"], Json({1.0, 3.0}));
  EXPECT_EQ(file["rows"][1]["turns"], 3);
  EXPECT_FALSE(file["rows"][2].contains("spread"));
  EXPECT_EQ(file["rows"][2]["turns"], 1);
}

TEST(ResultsTest, ValuesThatJsonCannotHoldAreMissingOrReplaced) {
  Results results("job");
  results.Of("\xFF", {}).Add("rate", "", std::numeric_limits<double>::infinity());
  const Json file = Json::parse(results.Text());
  EXPECT_EQ(file["rows"][0]["name"], "\xEF\xBF\xBD");
  EXPECT_EQ(file["rows"][0]["parameters"], Json::object());
  EXPECT_TRUE(file["rows"][0]["value"].is_null());
}

}  // namespace
}  // namespace blocksieve::bench
