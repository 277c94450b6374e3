#include <gtest/gtest.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "integration/cli/advise/filter_plan.h"
#include "integration/cli/database/filter_options.h"
#include "integration/rocksdb/levels/column_family_levels.h"
#include "integration/rocksdb/levels/level_rates.h"
#include "lib/lsm/coverage.h"
#include "tests/support/logs.h"

// The policy builds the filters that `advise` predicts.

namespace blocksieve::cli {
namespace {

using Random = std::mt19937_64;

std::string Key(uint64_t number) {
  const std::string digits = std::to_string(number);
  return std::string(8 - digits.size(), '0') + digits;
}

// A random tree: overlapping files on level 0, and up to five deeper levels, some empty. A level
// spans any part of the key range; its files do not overlap.
rocksdb::ColumnFamilyMetaData RandomTree(Random* random) {
  constexpr uint64_t kNumKeys = 10'000'000;
  const auto below = [&](uint64_t end) { return (*random)() % end; };
  rocksdb::ColumnFamilyMetaData tree;
  tree.name = "default";
  const uint64_t num_levels = 2 + below(5);
  for (uint64_t level = 0; level < num_levels; ++level) {
    std::vector<rocksdb::SstFileMetaData> files;
    // The last level is never empty.
    const uint64_t num_files = level + 1 == num_levels ? 1 + below(8) : below(5);
    std::vector<uint64_t> bounds(2 * num_files);
    for (uint64_t& bound : bounds) bound = below(kNumKeys);
    if (level != 0) std::sort(bounds.begin(), bounds.end());
    for (uint64_t i = 0; i < num_files; ++i) {
      rocksdb::SstFileMetaData& file = files.emplace_back();
      file.file_number = 100 * level + i;
      file.smallestkey = Key(std::min(bounds[2 * i], bounds[2 * i + 1]));
      file.largestkey = Key(std::max(bounds[2 * i], bounds[2 * i + 1]));
      file.num_entries = 1 + below(uint64_t{1} << (8 + 3 * level));
    }
    tree.levels.emplace_back(static_cast<int>(level), 0, std::move(files));
  }
  return tree;
}

// The reports that the command would read.
std::vector<FileReport> ReportsOf(const rocksdb::ColumnFamilyMetaData& tree) {
  std::vector<FileReport> reports;
  for (const auto& level : tree.levels) {
    for (const auto& file : level.files) {
      FileReport& report = reports.emplace_back();
      report.place.level = level.level;
      report.place.is_short_lived = level.level == 0;
      report.place.keys = LookupRange{file.smallestkey, file.largestkey, std::less<>()};
      report.num_entries = file.num_entries;
    }
  }
  return reports;
}

FilterPlan Advise(const std::vector<FileReport>& reports, const RateGoal& goal,
                  std::optional<FilterKind> kind) {
  // Instead of reading data blocks: there are no files here.
  std::vector<lsm::RunFile> files;
  files.reserve(reports.size());
  for (const FileReport& report : reports) {
    files.push_back(
        {.smallest = report.place.keys->smallest, .largest = report.place.keys->largest});
  }
  const lsm::KeyInterpolation keys(files);
  RunList list = SortIntoRuns(reports).at(0);
  SetCoverage(
      [&](const FileReport& report, std::string_view key) {
        return keys.ShareBefore(static_cast<size_t>(&report - reports.data()), key);
      },
      &list);
  Result<FilterPlan> plan = PlanForGoal({.list = list, .kind = kind}, goal);
  EXPECT_TRUE(plan.ok()) << plan.status().message();
  return plan.ok() ? *std::move(plan) : FilterPlan();
}

double Build(const rocksdb::ColumnFamilyMetaData& tree, const RateGoal& goal, PolicyKind kind,
             int level) {
  using namespace rocksdb_plugin;  // NOLINT: the policy's namespace
  static const auto log = std::make_shared<testing::MemoryLogger>();
  LevelRegistry::Instance().Replace(log, tree.name, rocksdb_plugin::LevelsOf(tree, nullptr));
  const rocksdb::BlockBasedTableOptions table;
  rocksdb::FilterBuildingContext context(table);
  context.compaction_style = rocksdb::kCompactionStyleLevel;
  context.num_levels = 7;
  context.info_log = log.get();
  context.column_family_name = tree.name;
  context.level_at_creation = level;
  LevelRates rates;
  const Result<FilterRates> of_file = rates.RatesOf(goal, kind, context);
  EXPECT_TRUE(of_file.ok()) << of_file.status().message();
  return of_file.ok() ? of_file->target_fpr : 0;
}

TEST(RatesAgree, InAdviceAndPolicyForRandomTrees) {
  constexpr int kNumTrees = 1000;
  Random random(32);
  for (int i = 0; i < kNumTrees; ++i) {
    const rocksdb::ColumnFamilyMetaData tree = RandomTree(&random);
    RateGoal goal;
    if (i % 2 == 0) {
      goal.bits_per_key = 0.5 + 0.1 * static_cast<double>(random() % 200);
    } else {
      goal.wasted_reads = std::exp2(-0.1 * static_cast<double>(random() % 120));
    }
    if (i % 5 == 0) goal.seek_fraction = 0.3;
    constexpr PolicyKind kKinds[] = {PolicyKind::kAuto, PolicyKind::kBloom, PolicyKind::kRibbon};
    const PolicyKind kind = kKinds[random() % std::size(kKinds)];
    const FilterPlan plan = Advise(ReportsOf(tree), goal, rocksdb_plugin::FixedKind(kind));
    ASSERT_FALSE(plan.levels.empty());
    for (const LevelFilters& level : plan.levels) {
      EXPECT_EQ(level.target_fpr, Build(tree, goal, kind, level.level))
          << "tree " << i << ", level " << level.level << ", " << GoalText(PolicyFor(plan.goal));
    }
  }
}

}  // namespace
}  // namespace blocksieve::cli
