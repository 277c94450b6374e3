#include "integration/rocksdb/levels/column_family_levels.h"

#include <gtest/gtest.h>

#include <vector>

namespace blocksieve::rocksdb_plugin {
namespace {

struct File {
  const char* smallest;
  const char* largest;
  uint64_t num_keys;
};

// Levels, beginning with level 0. File numbers begin with 1.
rocksdb::ColumnFamilyMetaData Tree(const std::vector<std::vector<File>>& levels) {
  rocksdb::ColumnFamilyMetaData tree;
  tree.name = "default";
  uint64_t number = 0;
  for (size_t i = 0; i < levels.size(); ++i) {
    std::vector<rocksdb::SstFileMetaData> files;
    for (const File& file : levels[i]) {
      rocksdb::SstFileMetaData& one = files.emplace_back();
      one.file_number = ++number;
      one.smallestkey = file.smallest;
      one.largestkey = file.largest;
      one.num_entries = file.num_keys;
    }
    tree.levels.emplace_back(static_cast<int>(i), 0, std::move(files));
  }
  return tree;
}

const std::vector<std::vector<File>> kLevels = {{{"c", "h", 10}, {"a", "k", 10}},
                                                {{"b", "c", 50}, {"f", "h", 50}},
                                                {},
                                                {{"a", "f", 5000}, {"f", "k", 5000}}};

TEST(ColumnFamilyLevels, AreMadeOfTheFiles) {
  const lsm::Levels levels = LevelsOf(Tree(kLevels), nullptr);
  ASSERT_EQ(levels.size(), 4u);
  const double runs[] = {2, 1, 0, 1};
  const double keys[] = {10, 100, 0, 10'000};
  const double shares[] = {0.75, 0.3, 1, 1};
  for (size_t i = 0; i < levels.size(); ++i) {
    EXPECT_EQ(levels[i].num_runs, runs[i]) << i;
    EXPECT_EQ(levels[i].keys_per_run, keys[i]) << i;
    EXPECT_NEAR(levels[i].lookup_share, shares[i], 0.01) << i;
  }
}

TEST(ColumnFamilyLevels, AreChangedByACompactionBeforehand) {
  const auto levels_after = [](const std::vector<uint64_t>& inputs, int output_level,
                               const char* column_family = "default") {
    rocksdb::CompactionJobInfo compaction;
    compaction.cf_name = column_family;
    compaction.output_level = output_level;
    for (const uint64_t number : inputs) {
      compaction.input_file_infos.emplace_back().file_number = number;
    }
    return LevelsOf(Tree(kLevels), &compaction);
  };
  lsm::Levels levels = levels_after({1, 2, 3}, 2);
  EXPECT_EQ(levels[0].num_runs, 1);  // the average of before and after
  EXPECT_EQ(levels[0].keys_per_run, 10);
  EXPECT_EQ(levels[1].keys_per_run, 50);
  EXPECT_EQ(levels[2].num_runs, 1);
  EXPECT_EQ(levels[2].keys_per_run, 70);
  levels = levels_after({3, 4, 6}, 3);
  EXPECT_EQ(levels[1].num_runs, 0);
  EXPECT_EQ(levels[3].keys_per_run, 10'100);
  levels = levels_after({1, 2}, 0);
  EXPECT_EQ(levels[0].num_runs, 1);
  EXPECT_EQ(levels_after({1, 2, 3}, 2, "other")[1].keys_per_run, 100);
}

TEST(ColumnFamilyLevels, EveryLookupChecksEveryRunIfTheOrderIsNotThatOfBytes) {
  for (const auto& tree : {Tree({{}, {{"a", "b", 50}}, {{"f", "j", 100}, {"a", "e", 100}}}),
                           Tree({{{"b", "a", 50}}, {{"a", "e", 100}}})}) {
    for (const double share : TreeOf(tree).LookupShares()) EXPECT_EQ(share, 1);
  }
}

}  // namespace
}  // namespace blocksieve::rocksdb_plugin
