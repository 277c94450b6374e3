#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lib/column/values.h"
#include "lib/skip/file_index.h"
#include "lib/skip/scan_pruner.h"
#include "lib/skip/summary.h"
#include "tests/core/column/test_columns.h"

// Skip indexes of several files, as the integrations use them.

namespace blocksieve::internal {
namespace {

using testing::MakeColumns;
using testing::MakePredicate;
using testing::Texts;

// One granule per value.
std::string BuildIndex(const std::vector<Column>& columns, const Texts& values) {
  SkipIndexBuilder builder = *SkipIndexBuilder::Create({.columns = columns, .granule_rows = 1});
  for (const std::string& value : values) builder.AddRow(value, value);
  return *builder.Finish();
}

TEST(ScanPruner, FilesWithoutAUsableIndexAreReadAsAWhole) {
  const std::vector<Column> columns = MakeColumns({"v=value"});
  const Predicate predicate = MakePredicate("v = 'b'", columns);
  const std::string useful_bytes = BuildIndex(columns, {"a", "b", "c"});
  const std::string other_bytes = BuildIndex(MakeColumns({"w=value"}), {"a", "b"});
  const SkipIndex useful = *SkipIndex::Open(AsBytes(useful_bytes));
  const SkipIndex other = *SkipIndex::Open(AsBytes(other_bytes));
  ScanExplanation explanation;
  ScanPruner pruner(predicate, &explanation);
  ASSERT_TRUE(pruner.CanPrune());
  const std::optional<GranuleSet> granules = pruner.PruneFile(&useful, "1", "");
  ASSERT_TRUE(granules);
  EXPECT_EQ(pruner.Select(useful, *granules), 1u);
  EXPECT_EQ(pruner.Select(useful, GranuleSet::None(3)), 0u);
  EXPECT_FALSE(pruner.PruneFile(&useful, "2", "of another engine"));
  EXPECT_FALSE(pruner.PruneFile(&other, "3", ""));
  for (int i = 0; i < 200; ++i) EXPECT_FALSE(pruner.PruneFile(nullptr, "4", "damaged"));
  pruner.Finish();
  EXPECT_FALSE(explanation.is_full_scan);
  EXPECT_EQ(explanation.num_files, 203u);
  EXPECT_EQ(explanation.files_without_index, 202u);
  EXPECT_EQ(explanation.files_pruned, 1u);
  EXPECT_EQ(explanation.num_granules, 3u);
  EXPECT_EQ(explanation.granules_selected, 1u);
  ASSERT_EQ(explanation.file_problems.size(), 100u);
  EXPECT_EQ(explanation.file_problems[0], "2: of another engine");
  EXPECT_EQ(explanation.file_problems[1], "3: its index has no part that the comparisons can use");
  EXPECT_EQ(explanation.comparisons[0].num_files, 2u);
  EXPECT_EQ(explanation.comparisons[0].granules_selected, 2u) << "for both files";
  ASSERT_EQ(explanation.columns.size(), 1u);
  EXPECT_EQ(explanation.columns[0].name, "v");
  EXPECT_GT(explanation.index_bytes_touched, 0u);
  EXPECT_NE(explanation.ToText().find("granules: 1/3"), std::string::npos);
}

TEST(ScanPruner, FullScanIfNoIndexCanPrune) {
  const Predicate predicate = MakePredicate("v = 'b'", MakeColumns({"v=value"}));
  ScanExplanation off;
  ScanPruner without(predicate, &off, {.use_index = false});
  EXPECT_FALSE(without.CanPrune());
  without.Finish();
  EXPECT_TRUE(off.is_full_scan);
  EXPECT_EQ(off.full_scan_reason, "use_index is off");
  ScanExplanation useless;
  EXPECT_FALSE(ScanPruner(MakePredicate("v LIKE '%b'", predicate.columns()), &useless).CanPrune());
  EXPECT_EQ(useless.full_scan_reason, "no comparison of the predicate can prune granules");
  ScanExplanation none;
  ScanPruner pruner(predicate, &none);
  EXPECT_FALSE(pruner.PruneFile(nullptr, "1", "written without an index"));
  pruner.Finish();
  EXPECT_EQ(none.full_scan_reason, "no file has an index that can prune granules");
}

TEST(SkipIndexSummarizer, TheNewestDefinitionOfANameWins) {
  SkipIndexSummarizer summarizer;
  for (const char* const definition : {"v=value", "v=field:2"}) {
    const std::string bytes = BuildIndex(MakeColumns({definition}), {"a\tb", "c\td"});
    const SkipIndex index = *SkipIndex::Open(AsBytes(bytes));
    EXPECT_TRUE(summarizer.AddIndex(index.granules(), bytes.size()).ok());
  }
  summarizer.AddProblem("3: over budget");
  EXPECT_TRUE(summarizer.AddDefinition("of a newer version").ok());
  const SkipIndexSummary summary = summarizer.Finish();
  EXPECT_EQ(summary.num_files, 3u);
  EXPECT_EQ(summary.files_with_index, 2u);
  EXPECT_EQ(summary.problems, Texts{"3: over budget"});
  ASSERT_EQ(summary.columns.size(), 1u);
  EXPECT_EQ(internal::FieldNumber(summary.columns[0]), 2u);
  ASSERT_EQ(summary.usage.size(), 3u) << "including superseded and unreadable definitions";
  for (const SkipIndexColumnUsage& usage : summary.usage) {
    EXPECT_EQ(usage.num_files, usage.definition == "of a newer version" ? 0u : 1u);
  }
}

}  // namespace
}  // namespace blocksieve::internal
