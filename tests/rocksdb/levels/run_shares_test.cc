#include "integration/rocksdb/levels/run_shares.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace blocksieve::rocksdb_plugin {
namespace {

constexpr double kEntriesPerByte = 0.01;

std::string Key(uint64_t number) {
  std::string key = "user:";
  for (int shift = 56; shift >= 0; shift -= 8) key += static_cast<char>(number >> shift);
  return key;
}

struct File {
  double first;  // of the range of all keys, 0 to 1
  double last;
  uint64_t num_keys;
};

// Levels from 0 on.
rocksdb::ColumnFamilyMetaData Tree(const std::vector<std::vector<File>>& levels) {
  rocksdb::ColumnFamilyMetaData tree;
  for (size_t i = 0; i < levels.size(); ++i) {
    std::vector<rocksdb::SstFileMetaData> files;
    for (const File& file : levels[i]) {
      rocksdb::SstFileMetaData& one = files.emplace_back();
      one.smallestkey = Key(static_cast<uint64_t>(file.first * 0x1p63));
      one.largestkey = Key(static_cast<uint64_t>(file.last * 0x1p63));
      one.num_entries = file.num_keys;
    }
    tree.levels.emplace_back(static_cast<int>(i), 0, std::move(files));
  }
  return tree;
}

std::vector<double> SharesOf(const std::vector<std::vector<File>>& levels) {
  return SharesOfLookups(Tree(levels), kEntriesPerByte);
}

TEST(RunShares, AreOfTheKeysBetweenFirstAndLast) {
  const auto shares = SharesOf({{{0.2, 0.7, 10}, {0, 1, 10}},
                                {{0.1, 0.2, 50}, {0.5, 0.7, 50}},
                                {{0, 0.5, 5000}, {0.5, 1, 5000}}});
  EXPECT_NEAR(shares[0], 0.75, 0.01);
  EXPECT_NEAR(shares[1], 0.3, 0.01);
  EXPECT_NEAR(shares[2], 1, 0.01);
}

// Between files that end with 19999 and begin with 20000 there is nothing, though bytes differ.
TEST(RunShares, KnowDigits) {
  std::vector<std::vector<rocksdb::SstFileMetaData>> files(3);
  const auto add = [&](size_t level, int first, int last, uint64_t num_keys) {
    rocksdb::SstFileMetaData& file = files[level].emplace_back();
    file.smallestkey = "id" + std::to_string(first);
    file.largestkey = "id" + std::to_string(last);
    file.num_entries = num_keys;
  };
  for (int i = 1; i < 9; ++i) add(1, 10'000 * i, 10'000 * i + 9999, 50);
  for (int i = 10'000; i < 90'000; i += 2500) add(2, i + 1250, i + 3700, 1000);
  rocksdb::ColumnFamilyMetaData tree;
  for (size_t i = 0; i < files.size(); ++i) {
    tree.levels.emplace_back(static_cast<int>(i), 0, std::move(files[i]));
  }
  EXPECT_GT(SharesOfLookups(tree, kEntriesPerByte)[1], 0.97);
}

// Three quarters of the keys are in the first tenth of their range, which the level above spans.
TEST(RunShares, GoByKeysAndNotByRanges) {
  const auto shares = SharesOf({{}, {{0, 0.1, 50}}, {{0, 0.1, 3000}, {0.1, 1, 1000}}});
  EXPECT_NEAR(shares[1], 0.75, 0.01);
}

// As in a database whose keys ascend.
TEST(RunShares, AddUpWhereLevelsAreApart) {
  const auto shares = SharesOf({{{0.9, 1, 500}}, {{0.5, 0.9, 1500}}, {{0, 0.49, 2000}}});
  EXPECT_NEAR(shares[0], 0.125, 0.01);
  EXPECT_NEAR(shares[1], 0.375, 0.01);
  EXPECT_NEAR(shares[2], 0.5, 0.01);
}

TEST(RunShares, AreNeverTooSmall) {
  const auto shares = SharesOf({{}, {{0.1, 0.101, 50}}, {{0, 1, 10000}}});
  EXPECT_EQ(shares[1], kLeastShareOfLookups);
}

TEST(RunShares, AreOneWhereNothingIsKnown) {
  // Files in another order than that of bytes; only level 0; no files.
  for (const auto& tree :
       {std::vector<std::vector<File>>{{}, {{0, 0.1, 50}}, {{0.5, 0.9, 100}, {0, 0.4, 100}}},
        {{{0, 0.1, 50}, {0.3, 0.4, 50}}},
        {{}, {}, {}}}) {
    for (const double share : SharesOf(tree)) EXPECT_EQ(share, 1);
  }
}

// Keys that are alike in their first bytes, or have no bytes at all.
TEST(RunShares, TakeAnyKeys) {
  rocksdb::ColumnFamilyMetaData tree = Tree({{{0, 1, 5}}, {{0, 1, 10}}, {{0, 1, 100}}});
  auto level1 = tree.levels[1].files;
  level1[0].smallestkey = "";
  level1[0].largestkey = "";
  auto level2 = tree.levels[2].files;
  level2[0].smallestkey = "";
  level2[0].largestkey = std::string(300, '\xff');
  tree.levels.clear();
  tree.levels.emplace_back(0, 0, std::vector<rocksdb::SstFileMetaData>());
  tree.levels.emplace_back(1, 0, std::move(level1));
  tree.levels.emplace_back(2, 0, std::move(level2));
  for (const double share : SharesOfLookups(tree, kEntriesPerByte)) {
    EXPECT_GE(share, kLeastShareOfLookups);
    EXPECT_LE(share, 1);
  }
}

}  // namespace
}  // namespace blocksieve::rocksdb_plugin
