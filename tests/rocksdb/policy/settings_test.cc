// SPDX-License-Identifier: Apache-2.0
#include <rocksdb/cache.h>
#include <rocksdb/version.h>

#include "integration/rocksdb/compat/version_differences.h"
#include "tests/support/key_sets.h"
#include "tests/support/test_db.h"

// Settings that change while a database is open. All others, and changes between openings:
// RandomDatabaseTest.

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

class ChangedSettingsTest : public ::testing::TestWithParam<FilterShape> {};

// As in the README: for new files from RocksDB 9.8 on, before that not at all.
TEST_P(ChangedSettingsTest, ThePolicyChangesWhileTheDatabaseIsOpen) {
  constexpr bool kIsChangeable = ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 908;
  TestDb db(MakeConfig(GetParam(), PolicyFromString("{id=blocksieve;wasted_reads=0.03}")));
  struct Step {
    std::string policy;
    std::string target_fpr;  // the expected one
    std::string wasted_reads;
  };
  uint64_t groups = 0;
  for (const Step& step : {Step{"blocksieve:0.02", "0.02", ""},
                           Step{"{id=blocksieve;wasted_reads=0.01;target_fpr=none}", "", "0.01"},
                           Step{"{id=blocksieve;target_fpr=0.2;wasted_reads=none}", "0.2", ""}}) {
    db.Fill(GroupKeys(2 * groups, 20, 10), std::string(30, 'v'));
    groups += 20;
    const rocksdb::Status status =
        db->SetOptions({{"block_based_table_factory", "{filter_policy=" + step.policy + "}"}});
    if (kIsChangeable) {
      MustBeOk(status, step.policy);
    } else {
      EXPECT_NE(status.ToString().find("Option not changeable"), std::string::npos)
          << status.ToString();
    }
    const auto factory = db->GetOptions().table_factory;
    const auto* const table = factory->GetOptions<rocksdb::BlockBasedTableOptions>();
    ASSERT_NE(table, nullptr);
    const auto option = [&](const char* name) {
      std::string value;
      EXPECT_TRUE(table->filter_policy->GetOption({}, name, &value).ok()) << name;
      return value;
    };
    EXPECT_EQ(option("target_fpr"), kIsChangeable ? step.target_fpr : "") << step.policy;
    EXPECT_EQ(option("wasted_reads"), kIsChangeable ? step.wasted_reads : "0.03") << step.policy;
    EXPECT_EQ(CheckReads(&db.db(), db.model(), GroupKeys(1, groups, 1)), "") << step.policy;
  }
  EXPECT_GT(db.Use().rejected, 0u);
}

// tests/PITFALLS.md, 13.
TEST_P(ChangedSettingsTest, AFilterThatIsNotInTheCacheIsNotANo) {
  DbConfig config = MakeConfig(GetParam(), PolicyFromString("blocksieve:0.01"));
  config.table.cache_index_and_filter_blocks = true;
  config.table.block_cache = rocksdb::NewLRUCache(1 << 20);
  TestDb db(config);
  db.Fill(GroupKeys(0, 400, 10));
  rocksdb::ReadOptions cached_only;
  cached_only.read_tier = rocksdb::kBlockCacheTier;
  for (const bool warm : {false, true}) {
    if (warm) {
      EXPECT_EQ(CheckReads(&db.db(), db.model(), GroupKeys(1, 400, 10)), "");
    } else {
      config.table.block_cache->EraseUnRefEntries();
    }
    uint64_t unknown = 0;
    for (const auto& [key, value] : db.model()) {
      std::string found;
      const rocksdb::Status status = db->Get(cached_only, key, &found);
      ASSERT_TRUE(status.ok() || status.IsIncomplete()) << status.ToString();
      unknown += status.IsIncomplete();
      bool value_found = false;
      ASSERT_TRUE(db->KeyMayExist({}, key, &found, &value_found));
    }
    EXPECT_EQ(unknown == 0, warm);
  }
  EXPECT_GT(db.Use().rejected, 0u);
}

INSTANTIATE_TEST_SUITE_P(Shapes, ChangedSettingsTest, kBothShapes, ParamNames());

}  // namespace
}  // namespace blocksieve
