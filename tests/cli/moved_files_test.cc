// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "blocksieve/tree.h"
#include "integration/cli/database/database.h"

namespace blocksieve::cli {
namespace {

FileReport File(int level, uint64_t keys, double fpr, double bits_per_key = 8) {
  FileReport file;
  file.place.level = level;
  file.place.is_short_lived = level == 0;
  file.num_entries = keys;
  file.filter.predicted_fpr = fpr;
  if (fpr < 1) {
    file.filter.origin = FilterOrigin::kBlocksieve;
    file.filter.num_entries = keys;
    file.filter.num_bytes = static_cast<uint64_t>(static_cast<double>(keys) * bits_per_key / 8);
  }
  return file;
}

TEST(TreesOfTest, KeysAreEntriesOfFiltersOrOfFilesIfUnreadable) {
  const auto keys_of = [](const FileReport& file) {
    return rocksdb_plugin::TreesOf({file})[0].files()[0].num_keys;
  };
  FileReport file = File(1, 1000, 0.1);
  file.filter.num_entries = 40;
  EXPECT_EQ(keys_of(file), 40u);
  file.filter.problems = {"damaged"};
  EXPECT_EQ(keys_of(file), 1000u);
  EXPECT_EQ(keys_of(File(1, 1000, 1)), 1000u);
}

using Levels = std::vector<std::optional<int>>;

// Levels 1 to 3 of size ratio 10, with two files each and the rates for ten bits per key.
std::vector<FileReport> ThreeLevels() {
  std::vector<TreeLevel> groups;
  for (const double keys : {1e5, 1e6, 1e7}) groups.push_back({.num_runs = 1, .keys_per_run = keys});
  const Result<RatePlan> rates = AllocateRates(groups, {.bits_per_key = 10});
  std::vector<FileReport> files;
  for (int level = 1; level <= 3; ++level) {
    const auto group = static_cast<size_t>(level - 1);
    for (int i = 0; i < 2; ++i) {
      files.push_back(File(level, static_cast<uint64_t>(groups[group].keys_per_run / 2),
                           rates->levels[group].target_fpr, 10));
    }
  }
  return files;
}

RequestedRatesByFamily BitsPerKey(double bits_per_key) {
  return {{"", {.bits_per_key = bits_per_key, .kind = PolicyKind::kRibbon}}};
}

TEST(MovedFilesTest, HaveTheRateOfALevelAbove) {
  std::vector<FileReport> files = ThreeLevels();
  files[4].filter.predicted_fpr = files[2].filter.predicted_fpr;  // from level 2 to 3
  files[5].filter.predicted_fpr = files[0].filter.predicted_fpr;  // from level 1 to 3
  EXPECT_EQ(LevelsBuiltFor(files, BitsPerKey(10)), (Levels{{}, {}, {}, {}, 2, 1}));
}

TEST(MovedFilesTest, MayComeFromAnEmptyLevel0) {
  std::vector<FileReport> files = ThreeLevels();
  files[5].filter.predicted_fpr = 1e-7;
  EXPECT_EQ(LevelsBuiltFor(files, BitsPerKey(10))[5], std::optional<int>(0));
}

TEST(MovedFilesTest, AreRecognizedByTheOptionsIfAllMoved) {
  std::vector<FileReport> files = {File(6, 1000, 1e-4, 14), File(6, 1000, 1e-4, 14)};
  for (int i = 0; i < 100; ++i) files.push_back(File(6, 1000, 1e-4, 14));
  EXPECT_EQ(LevelsBuiltFor(files, BitsPerKey(10)), Levels(102, 0));
}

TEST(MovedFilesTest, AreRecognizedByTheirKinds) {
  std::vector<FileReport> files = ThreeLevels();
  for (FileReport& file : files) file.filter.kind = "ribbon";
  files[1].filter.predicted_fpr = 1e-7;  // of level 0 by its rate, but not by its kind
  files[3].filter.kind = "bloom";
  RequestedRatesByFamily requested = BitsPerKey(10);
  EXPECT_EQ(LevelsBuiltFor(files, requested), (Levels{{}, 0, {}, {}, {}, {}}));
  requested[""].kind = PolicyKind::kAuto;
  EXPECT_EQ(LevelsBuiltFor(files, requested), (Levels{{}, {}, {}, 0, {}, {}}));
}

TEST(MovedFilesTest, IgnoreOtherFilters) {
  std::vector<FileReport> files = ThreeLevels();
  files[5].filter.predicted_fpr = files[0].filter.predicted_fpr;
  files[5].filter.origin = FilterOrigin::kStock;
  files[4].filter = {};
  EXPECT_EQ(LevelsBuiltFor(files, BitsPerKey(10)), Levels(6));
}

}  // namespace
}  // namespace blocksieve::cli
