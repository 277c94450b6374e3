#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/rocksdb/scan/skip_test_db.h"

// Cases of ClickHouse's own tests of skip indexes, on files of an LSM
// tree. Cases 5 and 6 are in block_granules_test.cc, 7 and 9 in
// skip_databases_test.cc and skip_versions_test.cc, 10 among the core's properties of predicates.

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

const std::vector<std::string> kDefinitions = {"n=int:field:1", "t=field:2", "a=int:field[,]:3",
                                               "w=words:2"};

class SkipCases : public ::testing::Test {
 protected:
  SkipCases() : db_(SkipConfig(ShortGranules(kDefinitions))) {}

  void Put(uint64_t i, const std::string& value) { MustBeOk(db_->Put({}, Key(i), value), "put"); }
  size_t Count(const std::string& where, ScanExplanation* explanation = nullptr) {
    return ScanBoth(&db_.db(), Where(where, columns_), explanation).size();
  }

  const std::vector<Column> columns_ = Columns(kDefinitions);
  TestDb db_;
};

// Case 2, and NULL and empty arrays (tests/PITFALLS.md, 29).
TEST_F(SkipCases, ArraysAndMissingValues) {
  const auto array = [](int first, int last) {
    std::string text;
    for (int i = first; i <= last; ++i) {
      if (i != first) text += ',';
      text += std::to_string(i);
    }
    return text;
  };
  Put(0, "1\tx\t" + array(0, 14));
  Put(1, "1\tx\t" + array(5, 19));
  Put(2, "1\tx\t" + array(10, 24));
  for (uint64_t i = 3; i < 40; ++i) Put(i, i % 2 == 0 ? "1\tx\t" : "1");
  db_.Flush();
  EXPECT_EQ(Count("a HAS 1"), 1u);
  EXPECT_EQ(Count("a HAS 5"), 2u);
  EXPECT_EQ(Count("a HAS 10"), 3u);
  EXPECT_EQ(Count("NOT a HAS 10"), 0u);
  EXPECT_EQ(Count("a <> 1"), 2u);
  EXPECT_EQ(Count("a IS NULL"), 37u);
  EXPECT_EQ(Count("a IS NOT NULL"), 3u);
  EXPECT_EQ(Count("t IS NULL"), 19u);
}

TEST_F(SkipCases, ExplanationsSayWhatSkippedAndWhatDidNot) {
  for (uint64_t i = 0; i < 400; ++i) Put(i, std::to_string(i / 4) + "\tsame");
  db_.Flush();
  db_.Compact();
  ScanExplanation explanation;
  EXPECT_EQ(Count("n = 7 AND t LIKE '%a%'", &explanation), 4u);
  EXPECT_FALSE(explanation.is_full_scan);
  EXPECT_EQ(explanation.num_files, 1u);
  EXPECT_EQ(explanation.num_granules, 100u);
  EXPECT_EQ(explanation.granules_selected, 1u);
  ASSERT_EQ(explanation.comparisons.size(), 2u);
  EXPECT_EQ(explanation.comparisons[0].column, "n");
  EXPECT_TRUE(explanation.comparisons[0].is_used);
  EXPECT_EQ(explanation.comparisons[0].num_granules, 100u);
  EXPECT_EQ(explanation.comparisons[0].selected, 1u);
  EXPECT_FALSE(explanation.comparisons[1].is_used);
  EXPECT_NE(explanation.comparisons[1].reason, "");
  EXPECT_GT(explanation.index_bytes_touched, 0u);
  ASSERT_EQ(explanation.columns.size(), 1u);
  EXPECT_EQ(explanation.rows_returned, 4u);
  EXPECT_EQ(explanation.ranges_read, 1u);
  const std::string text = explanation.ToText();
  for (const char* const part : {"n = 7", "not used", "granules: 100, selected 1", "returned 4"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
  }
}

}  // namespace
}  // namespace blocksieve
