#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "integration/rocksdb/compat/open_db.h"
#include "tests/support/db_checks.h"
#include "tests/support/key_sets.h"
#include "tests/support/test_db.h"

// Filters that are not in the cache, or damaged on disk: never "not found".

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

class UnavailableFilters : public ::testing::TestWithParam<FilterShape> {
 protected:
  static constexpr uint64_t kKeys = 4000;

  UnavailableFilters()
      : config_(MakeConfig(GetParam(), PolicyFromString("blocksieve:0.01"))),
        absent_(AbsentKeys(KeyShape::kUrl, kKeys)) {}

  static void Fill(TestDb* db) { db->Fill(PresentKeys(KeyShape::kUrl, kKeys)); }

  DbConfig config_;
  const std::vector<std::string> absent_;
};

// tests/PITFALLS.md, 13.
TEST_P(UnavailableFilters, AFilterThatIsNotInTheCacheIsNotANo) {
  config_.table.cache_index_and_filter_blocks = true;
  config_.table.block_cache = rocksdb::NewLRUCache(1 << 20);
  TestDb db(config_);
  Fill(&db);
  rocksdb::ReadOptions cached_only;
  cached_only.read_tier = rocksdb::kBlockCacheTier;
  for (const bool warm : {false, true}) {
    if (warm) {
      EXPECT_EQ(CheckReads(&db.db(), db.model(), absent_), "");
    } else {
      config_.table.block_cache->EraseUnRefEntries();
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

// tests/PITFALLS.md, 34: in the cache, readers outlive tables, databases and policies.
TEST_P(UnavailableFilters, CachedReadersOutliveTheDatabase) {
  config_.table.cache_index_and_filter_blocks = true;
  config_.table.block_cache = rocksdb::NewLRUCache(8 << 20);
  TestDb db(config_);
  Fill(&db);
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(CheckReads(&db.db(), db.model(), absent_), "");
    EXPECT_GT(db.Use().rejected, 0u);
    db.Close();
    config_.table.filter_policy = PolicyFromString("blocksieve:0.1");  // the old policy is gone
    db.Open(config_);
  }
}

// tests/PITFALLS.md, 15: a flipped bit under a valid header. RocksDB's block checksum finds it, and
// VerifyChecksum is the check command.
TEST_P(UnavailableFilters, ADamagedFilterOnDiskIsAnErrorAndNotANo) {
  TestDb db(config_);
  Fill(&db);
  ASSERT_EQ(FilesOf(db.db()).size(), 1u);
  const auto [path, properties] = *FilesOf(db.db()).begin();
  db.Close();
  std::ifstream file(path, std::ios::binary);
  const std::string good{std::istreambuf_iterator<char>(file), {}};
  // Filters come right after the data.
  const uint64_t filters = properties->data_size;
  for (const uint64_t at : {filters + 1, filters + 100, filters + properties->filter_size / 2}) {
    SCOPED_TRACE(at);
    std::string bad = good;
    bad[at] = static_cast<char>(~bad[at]);
    std::ofstream(path, std::ios::binary) << bad;
    std::unique_ptr<rocksdb::DB> damaged;
    const rocksdb::Status open = rocksdb_plugin::OpenDb(config_.ToOptions(), db.path(), &damaged);
    if (!open.ok()) {
      EXPECT_TRUE(open.IsCorruption()) << open.ToString();
      continue;
    }
    EXPECT_TRUE(damaged->VerifyChecksum().IsCorruption());
    for (const auto& [key, value] : db.model()) {
      std::string found;
      ASSERT_FALSE(damaged->Get({}, key, &found).IsNotFound()) << "a false negative";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, UnavailableFilters, kBothShapes, ParamNames());

}  // namespace
}  // namespace blocksieve
