#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "blocksieve/rocksdb/filter_policy.h"
#include "blocksieve/rocksdb/maintenance.h"
#include "integration/rocksdb/levels/column_family_levels.h"
#include "integration/rocksdb/maintenance/rewrite_files.h"
#include "tests/support/new_policy.h"
#include "tests/support/test_db.h"

// Plans to rewrite files, against the files that RocksDB then writes.

namespace blocksieve::rocksdb_plugin {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

std::string Key(uint64_t number) {
  const std::string digits = std::to_string(number * 0x9e3779b97f4a7c15);
  return std::string(20 - digits.size(), '0') + digits;
}

/// A database with files on levels 0, 1 and 3, written with stock filters.
class PlannedFilesTest : public ::testing::Test {
 protected:
  PlannedFilesTest() : config_(MakeConfig(FilterShape::kFull, PolicyFromString("bloomfilter:10"))) {
    config_.options.listeners = {NewListener()};
    config_.table.optimize_filters_for_memory = false;  // sizes would depend on the allocator
  }

  // `deletes`: of four entries of level 3 and of level 0.
  void Fill(uint64_t deletes = 0) {
    db_.emplace(config_);
    const auto add = [&](uint64_t num_keys, int level) {
      for (uint64_t i = 0; i < num_keys; ++i) {
        if (i % 4 < deletes) {
          MustBeOk((*db_)->Delete({}, Key(i * 7)), "delete");
        } else {
          db_->Put(Key(i * 3), "value");
        }
      }
      db_->Flush();
      if (level != 0) db_->CompactInto(level);
    };
    // A row above keeps deletes from being dropped.
    add(50'000, 3);
    add(8'000, 1);
    add(1'000, 0);
    add(900, 0);
  }

  void Reopen(const FilterPolicyOptions& options) {
    config_.table.filter_policy = NewPolicy(options);
    db_->Reopen(config_);
  }

  DbConfig config_;
  std::optional<TestDb> db_;
};

TEST_F(PlannedFilesTest, HaveThePlannedRateAndSize) {
  Fill();
  const std::vector<FilterPolicyOptions> policies = {
      {.bits_per_key = 8},
      {.wasted_reads = 0.1, .kind = PolicyKind::kBloom},
      {.target_fpr = 0.003},
      {.wasted_reads = 0.5, .kind = PolicyKind::kRibbon},
      {.bits_per_key = 12, .kind = PolicyKind::kBloom},
      // Also files whose filters are better, but blocksieve's.
      {.bits_per_key = 8, .kind = PolicyKind::kStock},
      {.wasted_reads = 0.3, .kind = PolicyKind::kStock},
  };
  for (const FilterPolicyOptions& policy : policies) {
    SCOPED_TRACE(&policy - policies.data());
    Reopen(policy);
    std::vector<FileReport> files;
    MustBeOk(ReadLiveFiles(&db_->db(), (*db_)->DefaultColumnFamily(), true, &files), "read");
    const std::vector<Tree> trees = TreesOf(files);
    const Tree& tree = trees.front();
    const auto keys_of_file = [](const FileReport&, const auto&) {};
    const Result<FilterPlan> plan =
        PlanRewrites(files, tree, policy, RewriteFiltersOptions(), keys_of_file);
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    EXPECT_FALSE(plan->changes.empty());
    std::map<std::pair<int, uint64_t>, FilterChange> planned;  // by level and entries
    for (const FilterChange& change : plan->changes) {
      const FileReport& file = files[tree.files()[change.file].id];
      planned[{file.place.level, file.num_entries}] = change;
    }
    BackfillProgress progress;
    MustBeOk(RewriteFiles(
                 &db_->db(), FilesToRewrite(files, tree, *plan),
                 [&](const std::string&) { return (*db_)->DefaultColumnFamily(); },
                 /*bytes_per_second=*/0, [](const BackfillProgress&) { return true; }, &progress),
             "rewrite");
    EXPECT_EQ(progress.files_done, plan->changes.size());
    std::vector<FileReport> after;
    MustBeOk(ReadLiveFiles(&db_->db(), (*db_)->DefaultColumnFamily(), true, &after), "read");
    ASSERT_EQ(after.size(), 4u);
    for (const FileReport& file : after) {
      const auto found = planned.find({file.place.level, file.num_entries});
      if (found == planned.end()) continue;  // as planned before
      const FilterChange& change = found->second;
      // RocksDB's Ribbon filters consist of blocks of 128 keys, here as few as 8.
      const bool is_stock = policy.kind == PolicyKind::kStock;
      EXPECT_NEAR(file.filter.predicted_fpr / change.fpr, 1, is_stock ? 0.13 : 0.05)
          << file.place.level;
      const auto num_bytes = static_cast<double>(change.filter_bytes);
      EXPECT_NEAR(static_cast<double>(file.filter.point_bytes()), num_bytes,
                  (is_stock ? 128 : 8) + 0.002 * num_bytes);
      const FilterOrigin origin = is_stock ? FilterOrigin::kStock : FilterOrigin::kBlocksieve;
      EXPECT_EQ(file.filter.origin, change.filter_bytes == 0 ? FilterOrigin::kNone : origin);
    }
    const Prediction projected = Predict({&tree, 1}, {&*plan, 1}, 1);
    const std::vector<Tree> rewritten = TreesOf(after);
    EXPECT_NEAR(Predict(rewritten, 1).wasted_reads / projected.wasted_reads, 1, 0.05);
  }
}

// The plan counts entries of filters, the policy entries of files: with prefixes, or deletes that a
// compaction drops, these differ.
TEST_F(PlannedFilesTest, AreNotRewrittenAgain) {
  const auto rewrite = [&] {
    uint64_t num_files = 0;
    MustBeOk(RewriteFilters(&db_->db(), nullptr, {},
                            [&](const BackfillProgress& done) {
                              num_files = done.files_done + done.files_left;
                              return true;
                            }),
             "rewrite");
    return num_files;
  };
  for (const uint64_t deletes : {0, 3}) {
    for (const int prefixes : {0, 1, 2}) {
      SCOPED_TRACE(std::to_string(deletes) + " deletes, prefixes " + std::to_string(prefixes));
      config_ = MakeConfig(FilterShape::kFull, PolicyFromString("bloomfilter:10"));
      config_.options.listeners = {NewListener()};
      if (prefixes != 0) UsePrefixes(&config_, 3, /*whole_keys=*/prefixes == 1);
      Fill(deletes);
      for (const FilterPolicyOptions& policy :
           {FilterPolicyOptions{.bits_per_key = 9}, FilterPolicyOptions{.wasted_reads = 0.004},
            FilterPolicyOptions{.bits_per_key = 9, .kind = PolicyKind::kStock}}) {
        Reopen(policy);
        EXPECT_GT(rewrite(), 0u);
        EXPECT_EQ(rewrite(), 0u);
        // Nor after the listener has read the levels again.
        RefreshLevels(&db_->db(), nullptr);
        EXPECT_EQ(rewrite(), 0u);
      }
    }
  }
}

}  // namespace
}  // namespace blocksieve::rocksdb_plugin
