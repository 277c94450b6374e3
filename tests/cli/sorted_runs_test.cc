#include "integration/cli/database/sorted_runs.h"

#include <gtest/gtest.h>

namespace blocksieve::cli {
namespace {

FileReport File(const std::string& family, int level, uint64_t keys, double fpr) {
  FileReport file;
  file.place.family = family;
  file.place.level = level;
  file.place.is_short_lived = level == 0;
  file.num_entries = keys;
  file.filter.predicted_fpr = fpr;
  if (fpr < 1) {
    file.filter.origin = FilterOrigin::kBlocksieve;
    file.filter.num_entries = keys;
    file.filter.num_bytes = keys;
  }
  return file;
}

TEST(SortedRuns, AreFilesOfLevel0AndDeeperLevels) {
  const std::vector<FileReport> files = {File("a", 0, 10, 0.5), File("a", 0, 20, 0.25),
                                         File("a", 2, 100, 0.1), File("a", 2, 300, 0.3),
                                         File("b", 3, 7, 1)};
  const std::vector<RunList> lists = SortIntoRuns(files);
  ASSERT_EQ(lists.size(), 2u);
  EXPECT_EQ(lists[0].family, "a");
  EXPECT_EQ(lists[0].num_keys(), 430u);
  EXPECT_EQ(lists[0].filter_bytes(), 430u);
  const std::vector<SortedRun>& runs = lists[0].runs;
  ASSERT_EQ(runs.size(), 3u);
  EXPECT_EQ(runs[0].num_keys, 10u);
  EXPECT_EQ(runs[1].num_keys, 20u);
  EXPECT_EQ(runs[2].files.size(), 2u);
  EXPECT_DOUBLE_EQ(runs[2].fpr, 0.25);  // the mean over keys
  EXPECT_EQ(lists[1].runs[0].fpr, 1);
}

TEST(SortedRuns, LevelsHaveTheKindsOfTheirFilters) {
  std::vector<FileReport> files = {File("", 0, 10, 0.5), File("", 0, 20, 0.25),
                                   File("", 2, 400, 0.1)};
  const auto levels_of = [&](std::optional<FilterKind> kind) {
    return SortIntoRuns(files)[0].Levels(kind);
  };
  EXPECT_EQ(levels_of(std::nullopt)[0].keys_per_run, 15);
  EXPECT_EQ(levels_of(std::nullopt)[0].kind, FilterKind::kBlockedBloom);
  EXPECT_EQ(levels_of(std::nullopt)[2].kind, FilterKind::kRibbon);
  EXPECT_EQ(levels_of(FilterKind::kRibbon)[0].kind, FilterKind::kRibbon);
  files[0].place.is_short_lived = false;  // as under FIFO
  EXPECT_EQ(levels_of(std::nullopt)[0].kind, FilterKind::kRibbon);
  files.erase(files.begin(), files.begin() + 2);
  EXPECT_EQ(levels_of(std::nullopt)[0].kind, FilterKind::kBlockedBloom);
}

TEST(SortedRuns, FilterKeysArePrefixesOrKeysIfUnreadable) {
  FileReport file = File("", 1, 1000, 0.1);
  file.filter.num_entries = 40;
  EXPECT_EQ(FilterKeys(file), 40u);
  file.filter.problems = {"damaged"};
  EXPECT_EQ(FilterKeys(file), 1000u);
  EXPECT_EQ(FilterKeys(File("", 1, 1000, 1)), 1000u);
}

}  // namespace
}  // namespace blocksieve::cli
