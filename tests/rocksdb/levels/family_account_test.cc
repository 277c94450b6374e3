// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/levels/family_account.h"
#include "integration/rocksdb/levels/fullest_levels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <vector>

namespace blocksieve::rocksdb_plugin {
namespace {

constexpr uint64_t kCeiling = 1000;

// What the filters of all files of a version take.
class Version {
 public:
  void Add(uint64_t file, uint64_t bytes) { bytes_[file] = bytes; }
  void Remove(uint64_t file) { bytes_.erase(file); }
  uint64_t Sum() const {
    uint64_t sum = 0;
    for (const auto& [_, bytes] : bytes_) sum += bytes;
    return sum;
  }
  std::set<uint64_t> Pick(size_t count, const std::set<uint64_t>& not_these,
                          std::mt19937* random) const {
    std::set<uint64_t> picked;
    for (const auto& [file, _] : bytes_) {
      if (picked.size() < count && !not_these.contains(file) && (*random)() % 2 == 0)
        picked.insert(file);
    }
    return picked;
  }

 private:
  std::map<uint64_t, uint64_t> bytes_;
};

struct Running {
  SstJob job;
  std::map<uint64_t, uint64_t> outputs = {};
};

// Jobs begin, write and end in any order, some fail, RocksDB deletes some inputs before it says
// that the job has ended, and reports no end of some files.
TEST(FamilyAccountTest, NoVersionExceedsTheCeiling) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    FamilyAccount account;
    Version version;
    std::vector<Running> jobs;
    std::set<uint64_t> inputs;
    uint64_t next_file = 1, most = 0;
    int next_job = 1;
    for (int step = 0; step < 400; ++step) {
      const uint32_t action = random() % 4;
      if (jobs.size() < 4 && action == 0) {
        Running running{{"", next_job++, version.Pick(random() % 4, inputs, &random), 1}};
        inputs.insert(running.job.inputs.begin(), running.job.inputs.end());
        account.BeginJob(running.job);
        jobs.push_back(std::move(running));
      } else if (!jobs.empty() && action <= 2) {
        Running& running = jobs[random() % jobs.size()];
        const uint64_t available =
            kCeiling + account.CreditOf(running.job.id) -
            std::min(account.num_bytes(), kCeiling + account.CreditOf(running.job.id));
        const uint64_t bytes = std::min<uint64_t>(random() % 300, available);
        account.SetOutput(running.job.id, next_file, 1, {.bytes = bytes});
        running.outputs[next_file++] = bytes;
      } else if (!jobs.empty()) {
        const auto ended = jobs.begin() + random() % static_cast<int>(jobs.size());
        const bool is_ok = random() % 4 != 0;
        std::set<uint64_t> outputs;
        for (const auto& [file, bytes] : ended->outputs) {
          if (!is_ok || (!outputs.empty() && random() % 8 == 0)) {
            if (random() % 2 == 0) account.Erase(file);
            continue;
          }
          version.Add(file, bytes);
          outputs.insert(file);
        }
        for (const uint64_t file : ended->job.inputs) {
          inputs.erase(file);
          if (!is_ok) continue;
          version.Remove(file);
          if (random() % 4 == 0) account.Erase(file);
        }
        ASSERT_GE(account.num_bytes(), version.Sum()) << "seed " << seed << ", step " << step;
        account.EndJob(ended->job.id, is_ok, outputs);
        jobs.erase(ended);
      }
      most = std::max(most, version.Sum());
      ASSERT_LE(version.Sum(), kCeiling) << "seed " << seed << ", step " << step;
      if (jobs.empty()) {
        ASSERT_EQ(account.num_bytes(), version.Sum()) << "seed " << seed;
      }
    }
    EXPECT_GE(most, kCeiling / 2) << "seed " << seed;
  }
}

TEST(FamilyAccountTest, LevelsAreThoseOfTheJobsOutputs) {
  FamilyAccount account;
  account.SetFile(1, 0, {.num_keys = 100});
  account.SetFile(2, 0, {.num_keys = 300});
  account.SetFile(3, 2, {.num_keys = 5000});
  std::vector<TreeLevel> levels = account.LevelsToCome();
  ASSERT_EQ(levels.size(), 3u);
  EXPECT_EQ(levels[0].num_runs, 2);
  EXPECT_EQ(levels[0].num_keys(), 400);
  account.BeginJob({"", 7, {1, 2}, 1});
  account.SetOutput(7, 4, 1, {.num_keys = 380});
  levels = account.LevelsToCome();
  EXPECT_EQ(levels[0].num_keys(), 0);
  EXPECT_EQ(levels[1].num_keys(), 400);
  account.EndJob(7, true, {4});
  account.SetVersion({{3, 2}, {4, 1}}, FamilyAccount::Now());
  levels = account.LevelsToCome();
  EXPECT_EQ(levels[1].num_keys(), 380);
  EXPECT_EQ(levels[2].num_keys(), 5000);
  // A move: the input stays, on another level.
  account.BeginJob({"", 8, {4}, 2});
  account.EndJob(8, true, {4});
  account.SetVersion({{3, 2}, {4, 2}}, FamilyAccount::Now());
  levels = account.LevelsToCome();
  EXPECT_EQ(levels[1].num_keys(), 0);
  EXPECT_EQ(levels[2].num_keys(), 5380);
}

// A job may end while somebody reads the version.
TEST(FamilyAccountTest, AnOldVersionTakesNoNewFile) {
  FamilyAccount account;
  account.SetFile(1, 1, {.bytes = 100});
  const uint64_t before = FamilyAccount::Now();
  account.BeginJob({"", 1, {}, 0});
  account.SetOutput(1, 2, 0, {.bytes = 50});
  account.EndJob(1, true, {2});
  account.SetVersion({}, before);
  EXPECT_EQ(account.num_bytes(), 50u) << "the file from before is gone";
  account.SetVersion({}, FamilyAccount::Now());
  EXPECT_EQ(account.num_bytes(), 0u);
}

TEST(FamilyAccountTest, AJobReservesOnceForAllItsFiles) {
  FamilyAccount account;
  account.BeginJob({"", 1, {}, 0, 1000});
  EXPECT_EQ(account.ReserveForJob(1, 500, 400), 400u);
  EXPECT_EQ(account.ReserveForJob(1, 500, 0), 400u);
  EXPECT_EQ(account.num_bytes(), 400u);
  account.SetOutput(1, 10, 0, {.bytes = 150});
  EXPECT_EQ(account.num_bytes(), 400u);
  account.EndJob(1, true, {10});
  EXPECT_EQ(account.num_bytes(), 150u) << "the rest comes back";
  EXPECT_EQ(account.ReserveForJob(1, 500, 400), 0u) << "of a job that has ended";
}

TEST(FullestLevelsTest, LevelsAboveTheLargestAreExpectedToFillAgain) {
  FullestLevels fullest;
  fullest.Remember({{4, 1000}, {1, 3000}, {1, 100'000}});
  std::vector<TreeLevel> levels = {{0, 0}, {1, 500}, {1, 107'000}};
  fullest.Expect(&levels);
  EXPECT_DOUBLE_EQ(levels[0].num_keys(), 4000);
  EXPECT_DOUBLE_EQ(levels[0].keys_per_run, 1000);
  EXPECT_DOUBLE_EQ(levels[1].num_keys(), 3000);
  EXPECT_DOUBLE_EQ(levels[2].num_keys(), 107'000);
  // No more than a share of a small tree, and nothing above a level that is gone.
  levels = {{0, 0}, {1, 500}, {1, 6500}};
  fullest.Expect(&levels);
  EXPECT_NEAR(NumKeys(levels), 7000 * (1 + FullestLevels::kMaxExpectedShare), 1e-6);
  levels = {{2, 1000}};
  fullest.Expect(&levels);
  EXPECT_DOUBLE_EQ(NumKeys(levels), 2000);
  levels = {};
  fullest.Expect(&levels);
  // It forgets.
  for (int i = 0; i < 200; ++i) fullest.Remember({{0, 0}, {1, 500}, {1, 107'000}});
  levels = {{0, 0}, {1, 500}, {1, 107'000}};
  fullest.Expect(&levels);
  EXPECT_LT(levels[0].num_keys(), 1);
}

}  // namespace
}  // namespace blocksieve::rocksdb_plugin
