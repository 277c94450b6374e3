#include "blocksieve/skip_index.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "lib/skip/file_index.h"
#include "tests/core/column/test_columns.h"
#include "tests/core/granule/granule_test_index.h"

// From rows to candidates. Indexes of a column are tested with granules, comparisons with
// predicates.

namespace blocksieve {
namespace {

using testing::MakeColumn;
using testing::MakeColumns;
using testing::MakePredicate;
using testing::Members;

constexpr uint64_t kRowsPerGranule = 10;

// An index together with its bytes.
class BuiltIndex {
 public:
  explicit BuiltIndex(Result<std::string> bytes)
      : bytes_(*std::move(bytes)), reader_(*SkipIndex::Open(AsBytes(bytes_))) {}
  BuiltIndex(const BuiltIndex&) = delete;
  BuiltIndex& operator=(const BuiltIndex&) = delete;

  const SkipIndex* operator->() const { return &reader_; }

 private:
  const std::string bytes_;
  const SkipIndex reader_;
};

SkipIndexBuilder MakeBuilder(const std::vector<Column>& columns) {
  return testing::Must(SkipIndexBuilder::Create(
      {.columns = columns, .granule_rows = kRowsPerGranule, .granule_bytes = 0}));
}

std::string KeyOf(uint64_t row) { return "key" + std::to_string(1000 + row); }

// Row i has the number of its granule, i / 10, and the word w(i % 3).
std::string RowOf(uint64_t row) {
  return std::to_string(row / kRowsPerGranule) + "\tw" + std::to_string(row % 3);
}

std::vector<Column> TwoColumns() { return MakeColumns({"number=int:1", "word=field:2"}); }

Result<std::string> BuildRows(uint64_t num_rows) {
  SkipIndexBuilder builder = MakeBuilder(TwoColumns());
  for (uint64_t i = 0; i < num_rows; ++i) builder.AddRow(KeyOf(i), RowOf(i));
  return builder.Finish();
}

using GranuleNumbers = std::vector<size_t>;

TEST(SkipIndex, CandidatesAreTheGranulesThatMayMatch) {
  const BuiltIndex index(BuildRows(95));
  ASSERT_EQ(index->num_granules(), 10u);
  const auto candidates = [&](std::string_view text) {
    return Members(index->Candidates(MakePredicate(text, TwoColumns())));
  };
  EXPECT_EQ(candidates("number = 4"), (GranuleNumbers{4}));
  EXPECT_EQ(candidates("number IN (1, 2, 9) AND word = 'w1'"), (GranuleNumbers{1, 2, 9}));
  EXPECT_EQ(candidates("number > 7"), (GranuleNumbers{8, 9}));
  EXPECT_EQ(candidates("number = 77"), GranuleNumbers());
  EXPECT_EQ(candidates("word LIKE '%1'").size(), 10u) << "cannot prune";
}

// A name may have been reused for another field.
TEST(SkipIndex, ColumnsAreFoundByTheirDefinitions) {
  const BuiltIndex index(BuildRows(95));
  EXPECT_EQ(index->FindColumn(MakeColumn("word=field:2")), 1u);
  for (const char* const other : {"word=field:1", "words=field:2", "word=words:2"}) {
    EXPECT_EQ(index->FindColumn(MakeColumn(other)), std::nullopt) << other;
  }
  const Predicate predicate = MakePredicate("number = 77", MakeColumns({"number=int:3"}));
  EXPECT_FALSE(index->CanPrune(predicate));
  EXPECT_EQ(index->Candidates(predicate).Count(), 10u);
}

TEST(SkipIndex, UnknownRowsAlwaysMatchAndEmptyRowsLackAllColumns) {
  const std::vector<Column> columns = MakeColumns({"row=value"});
  SkipIndexBuilder builder = MakeBuilder(columns);
  builder.AddRow("a", "x");
  builder.NoteSequence(7);
  builder.CloseGranule();
  builder.AddEmptyRow("b");
  builder.CloseGranule();
  builder.AddRow("c", "y");
  builder.AddAlwaysMatchingRow("d", 100);
  builder.NoteSequence(9);
  const BuiltIndex index(builder.Finish());
  const auto candidates = [&](std::string_view text) {
    return Members(index->Candidates(MakePredicate(text, columns)));
  };
  EXPECT_EQ(candidates("row = 'x'"), (GranuleNumbers{0, 2}));
  EXPECT_EQ(candidates("row IS NULL"), (GranuleNumbers{1, 2}));
  EXPECT_EQ(candidates("row = ''"), (GranuleNumbers{2}));
  EXPECT_EQ(index->granules().num_rows(), 4u);
  EXPECT_EQ(index->granules().MinSequence(0), 7u);
  EXPECT_EQ(index->granules().MinSequence(2), 9u);
}

TEST(SkipIndex, OptionsOutOfRangeAreNamed) {
  const auto problem = [](const SkipIndexBuilderOptions& options) {
    const Result<SkipIndexBuilder> builder = SkipIndexBuilder::Create(options);
    EXPECT_EQ(builder.status().code(), StatusCode::kInvalidArgument);
    return builder.status().message();
  };
  EXPECT_EQ(problem({}), "number of columns is 0; allowed: 1 to 256");
  SkipIndexBuilderOptions options{.columns = MakeColumns({"a=field:1", "a=field:2"})};
  EXPECT_EQ(problem(options), "columns has \"a\" twice; allowed: once");
  options.columns.clear();
  for (int i = 0; i < 256; ++i) options.columns.push_back("c" + std::to_string(i) + "=field:1");
  EXPECT_TRUE(SkipIndexBuilder::Create(options).ok());
  options.columns.push_back("one=value");
  EXPECT_EQ(problem(options), "number of columns is 257; allowed: 1 to 256");
  options.columns = {"a=value", "garbage"};
  EXPECT_NE(problem(options).find("garbage"), std::string::npos);
  options.columns = {"a=value"};
  options.target_fpr = 0.9;
  EXPECT_NE(problem(options).find("target_fpr"), std::string::npos);
}

}  // namespace
}  // namespace blocksieve
