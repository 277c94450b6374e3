// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include "blocksieve/rocksdb.h"
#include "integration/rocksdb/levels/column_family_levels.h"
#include "integration/rocksdb/maintenance/file_report.h"
#include "tests/support/test_db.h"

// Files that were rewritten need no rewriting, whatever was planned for them.

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
  }

  // `deletes`: of four entries of level 3 and of level 0.
  void Fill(uint64_t deletes = 0) {
    db_.emplace(config_);
    const auto add = [&](uint64_t num_keys, int level) {
      for (uint64_t i = 0; i < num_keys; ++i) {
        if (i % 4 < deletes) {
          MustBeOk((*db_)->Delete({}, Key(i * 7)));
        } else {
          db_->Put(Key(i * 3), "value");
        }
      }
      db_->Flush();
      if (level != 0) db_->CompactInto(level);
    };
    // A row above keeps deletes from being dropped.
    add(15'000, 3);
    add(3'000, 1);
    add(1'000, 0);
    add(900, 0);
  }

  // Returns the number of files.
  uint64_t Rewrite() {
    uint64_t num_files = 0;
    MustBeOk(RewriteFilters(&db_->db(), {}, {}, [&](const FileProgress& done) {
      num_files = done.files_done + done.files_left;
      return true;
    }));
    return num_files;
  }

  void Reopen(const EnableOptions& options) {
    config_.table.filter_policy = NewPolicy(options);
    db_->Reopen(config_);
  }

  DbConfig config_;
  std::optional<TestDb> db_;
};

// RocksDB or the policy builds other filters than planned, or none. Rewriting such files would
// never end, and could replace working filters.
TEST_F(PlannedFilesTest, WhatIsNotBuiltReplacesNothingAndIsNotTriedAgain) {
  const EnableOptions plain{.bits_per_key = 10};
  const EnableOptions small{.bits_per_key = 10, .max_build_bytes = 3000};
  const EnableOptions stock{.bits_per_key = 10, .kind = FilterKind::kStock};
  for (const std::string name :
       {"hits", "cache", "prefixes", "no prefixes", "partitions", "none"}) {
    for (const EnableOptions& policy : {plain, small, stock}) {
      // Each obstacle with the policies that it concerns.
      if ((name == "none") != (policy.max_build_bytes != 0)) continue;
      if (name == "partitions" && policy.kind != FilterKind::kStock) continue;
      SCOPED_TRACE(name + (policy.max_build_bytes != 0 ? " small" : "") +
                   (policy.kind == FilterKind::kStock ? " stock" : ""));
      config_ = MakeConfig(name == "partitions" ? FilterShape::kPartitioned : FilterShape::kFull,
                           PolicyFromString("ribbonfilter:10"));
      config_.options.listeners = {NewListener()};
      if (name == "prefixes") UsePrefixes(&config_, 6, /*whole_keys=*/false);
      if (name == "no prefixes") UsePrefixes(&config_, 40, /*whole_keys=*/false);
      Fill();
      if (name == "hits") config_.options.optimize_filters_for_hits = true;
      if (name == "cache") {
        config_.table.block_cache =
            rocksdb::NewLRUCache(300 << 10, 0, /*strict_capacity_limit=*/true);
        config_.table.cache_usage_options.options_overrides.insert(
            {rocksdb::CacheEntryRole::kFilterConstruction,
             {rocksdb::CacheEntryRoleOptions::Decision::kEnabled}});
      }
      const auto unfiltered = [&] {
        std::vector<FileReport> files;
        MustBeOk(ReadLiveFiles(&db_->db(), db_->db().DefaultColumnFamily(), FileParts::kFilters,
                               &files));
        return std::ranges::count(files, 1, &FileReport::fpr);
      };
      const auto before = unfiltered();
      Reopen(policy);
      static_cast<void>(Rewrite());
      EXPECT_EQ(Rewrite(), 0u);
      EXPECT_LE(unfiltered(), before);
    }
  }
}

// The plan counts entries of filters, the policy entries of files: with prefixes, or deletes that a
// compaction drops, these differ.
TEST_F(PlannedFilesTest, AreNotRewrittenAgain) {
  for (const uint64_t deletes : {0, 3}) {
    for (const int prefixes : {0, 1, 2, 3}) {  // with 3, none, but partitions of few keys
      SCOPED_TRACE(std::to_string(deletes) + " deletes, prefixes " + std::to_string(prefixes));
      config_ = MakeConfig(prefixes == 3 ? FilterShape::kPartitioned : FilterShape::kFull,
                           PolicyFromString("bloomfilter:10"));
      config_.options.listeners = {NewListener()};
      if (prefixes % 3 != 0) UsePrefixes(&config_, 3, /*whole_keys=*/prefixes == 1);
      Fill(deletes);
      for (const EnableOptions& policy :
           {EnableOptions{.bits_per_key = 9}, EnableOptions{.wasted_reads = 0.004},
            EnableOptions{.bits_per_key = 9, .kind = FilterKind::kStock}}) {
        Reopen(policy);
        // Filters of few keys are rounded to equal sizes.
        EXPECT_TRUE(Rewrite() > 0 || prefixes == 3);
        EXPECT_EQ(Rewrite(), 0u);
        // Nor after the listener has read the levels again.
        RefreshLevels(&db_->db(), {"default", 0});
        EXPECT_EQ(Rewrite(), 0u);
      }
    }
  }
}

}  // namespace
}  // namespace blocksieve::rocksdb_plugin
