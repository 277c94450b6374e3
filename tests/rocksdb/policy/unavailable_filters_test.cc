#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "integration/rocksdb/compat/open_db.h"
#include "tests/support/db_checks.h"
#include "tests/support/key_sets.h"
#include "tests/support/test_db.h"

// Filters that are not at hand, damaged on disk, or left out on purpose: never "not found".

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

// tests/PITFALLS.md, 17: no filter where hits are expected.
TEST_P(UnavailableFilters, FiltersLeftOutForHits) {
  config_.options.optimize_filters_for_hits = true;
  TestDb db(config_);
  Fill(&db);
  db.Compact();
  EXPECT_EQ(db.FilterBytes(), 0u);
  EXPECT_EQ(CheckReads(&db.db(), db.model(), absent_), "");
  db.Fill(PresentKeys(KeyShape::kUrl, kKeys / 4), "newer");
  EXPECT_EQ(CheckReads(&db.db(), db.model(), absent_), "");
  EXPECT_GT(db.Use().rejected, 0u) << "by the newer file";
}

// tests/PITFALLS.md, 15: a flipped bit under a valid header. RocksDB's block checksum finds it, and
// VerifyChecksum is the check command.
TEST_P(UnavailableFilters, ADamagedFilterOnDiskIsAnErrorAndNotANo) {
  TestDb db(config_);
  Fill(&db);
  std::vector<rocksdb::LiveFileMetaData> files;
  db->GetLiveFilesMetaData(&files);
  ASSERT_EQ(files.size(), 1u);
  const std::string path = files[0].db_path + files[0].name;
  db.Close();

  std::string bytes;
  {
    std::ifstream file(path, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(file), {});
  }
  // The first filter ends in magic, checksum and five zero bytes; before it are payload and fields.
  // Its payload is found by its end: the version and the magic that precede the checksum.
  size_t tail = std::string::npos;
  for (size_t at = 0; at + 11 <= bytes.size(); ++at) {
    if (bytes[at] == '\x01' && bytes[at + 1] == '\xb5' &&
        bytes.compare(at + 6, 5, std::string(5, '\0')) == 0) {
      tail = at;
      break;
    }
  }
  ASSERT_NE(tail, std::string::npos);
  const size_t damaged = tail - 100;  // a byte of the payload
  bytes[damaged] = static_cast<char>(~bytes[damaged]);
  std::ofstream(path, std::ios::binary) << bytes;

  rocksdb::Options options = config_.ToOptions();
  std::unique_ptr<rocksdb::DB> damaged_db;
  const rocksdb::Status open = rocksdb_plugin::OpenDb(options, db.path(), &damaged_db);
  if (!open.ok()) {
    EXPECT_TRUE(open.IsCorruption()) << open.ToString();
    return;
  }
  EXPECT_TRUE(damaged_db->VerifyChecksum().IsCorruption());
  for (const auto& [key, value] : db.model()) {
    std::string found;
    const rocksdb::Status status = damaged_db->Get({}, key, &found);
    ASSERT_FALSE(status.IsNotFound()) << "a false negative";
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, UnavailableFilters, kBothShapes, ParamNames());

}  // namespace
}  // namespace blocksieve
