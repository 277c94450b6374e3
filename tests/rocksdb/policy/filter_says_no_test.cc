#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "integration/rocksdb/compat/open_db.h"
#include "integration/rocksdb/compat/version_differences.h"
#include "tests/support/db_checks.h"
#include "tests/support/key_sets.h"
#include "tests/support/test_db.h"

// A filter's "no" is about point entries of one file, or one prefix in it, and implies nothing
// else.

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

class DeletesAndVersions : public ::testing::TestWithParam<FilterShape> {
 protected:
  DeletesAndVersions() : config_(MakeConfig(GetParam(), PolicyFromString("blocksieve:0.01"))) {}

  // Groups with even numbers, all in the bottommost file.
  static void FillBottom(TestDb* db, uint64_t groups) {
    db->Fill(GroupKeys(0, groups, 10), "bottom" + std::string(40, '.'));
    db->Compact();
  }

  static std::vector<std::string> Absent(uint64_t groups) { return GroupKeys(1, groups, 10); }

  DbConfig config_;
};

// tests/PITFALLS.md, 24: the filter of the newer file has none of the deleted keys.
TEST_P(DeletesAndVersions, AFiltersNoDoesNotHideRangeTombstones) {
  for (const bool with_prefixes : {false, true}) {
    if (with_prefixes) UsePrefixes(&config_, kGroupPrefixBytes);
    TestDb db(config_);
    FillBottom(&db, 200);
    db.Put("a", "so that the file has a filter");
    db.DeleteRange(GroupKey(20, 0), GroupKey(120, 5));
    db.Put("z", "and a wide range of keys");
    db.Flush();
    // A file with only a tombstone has no filter.
    db.DeleteRange(GroupKey(200, 3), GroupKey(240, 0));
    db.Flush();
    db.ResetUse();
    std::vector<std::string> absent = Absent(200);
    for (const std::string& key : GroupKeys(0, 200, 10)) {
      if (db.model().count(key) == 0) absent.push_back(key);
    }
    EXPECT_EQ(CheckReads(&db.db(), db.model(), absent), "");
    EXPECT_GT(db.Use().rejected, 0u);
    if (with_prefixes) {
      EXPECT_EQ(CheckPrefixScans(&db.db(), db.model(), {GroupPrefix(30), GroupPrefix(61)}), "");
    }
    db.Compact();
    EXPECT_EQ(CheckReads(&db.db(), db.model(), absent), "");
  }
}

// tests/PITFALLS.md, 2: the versions of one key fill several partitions, and each must have it.
TEST_P(DeletesAndVersions, EveryVersionOfAKeyIsFoundInEveryPartition) {
  config_.table.block_size = 128;
  config_.table.metadata_block_size = 64;
  TestDb db(config_);
  constexpr int kVersions = 400;
  std::vector<const rocksdb::Snapshot*> snapshots;
  for (uint64_t i = 0; i < 500; ++i) db.Put(MakeKey(KeyShape::kUrl, 2 * i), "other");
  const std::string versioned = MakeKey(KeyShape::kUrl, 500);
  for (int i = 0; i < kVersions; ++i) {
    db.Put(versioned, "version " + std::to_string(i) + std::string(100, '.'));
    snapshots.push_back(db->GetSnapshot());
  }
  db.Flush();
  for (const bool compacted : {false, true}) {
    if (compacted) db.Compact();
    int found = 0;
    for (int i = 0; i < kVersions; ++i) {
      rocksdb::ReadOptions at;
      at.snapshot = snapshots[static_cast<size_t>(i)];
      std::string value;
      found += db->Get(at, versioned, &value).ok() &&
               value == "version " + std::to_string(i) + std::string(100, '.');
    }
    EXPECT_EQ(found, kVersions) << (compacted ? "compacted" : "flushed");
    EXPECT_EQ(CheckReads(&db.db(), db.model(), AbsentKeys(KeyShape::kUrl, 500)), "");
  }
  EXPECT_GT(db.Use().rejected, 0u);
  for (const rocksdb::Snapshot* snapshot : snapshots) db->ReleaseSnapshot(snapshot);
}

// tests/PITFALLS.md, 2 and 3: the same with a prefix that continues from partition to partition.
TEST_P(DeletesAndVersions, APrefixIsFoundInEveryPartitionThatHasIt) {
  for (const bool whole_keys : {true, false}) {
    UsePrefixes(&config_, kGroupPrefixBytes, whole_keys);
    config_.table.block_size = 128;
    config_.table.metadata_block_size = 64;
    TestDb db(config_);
    // Groups of 1 to 200 keys: boundaries fall everywhere.
    for (uint64_t group = 0; group < 60; ++group) {
      const uint64_t members = 1 + group * group * 7 % 200;
      for (uint64_t member = 0; member < members; ++member) {
        db.Put(GroupKey(2 * group, member), std::string(member % 50, 'v'));
      }
    }
    db.Flush();
    EXPECT_EQ(CheckPrefixScans(&db.db(), db.model(), GroupPrefixes(1, 60)), "");
    EXPECT_GT(db.Use().prefix_rejected, 0u);
    EXPECT_EQ(CheckReads(&db.db(), db.model(), Absent(60)), "");

    // From every key on, and backwards from every key.
    rocksdb::ReadOptions within_prefix;
    within_prefix.prefix_same_as_start = true;
    const std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(within_prefix));
    for (const auto& [key, value] : db.model()) {
      it->Seek(key);
      ASSERT_TRUE(it->Valid() && it->key() == key) << key;
      it->SeekForPrev(key);
      ASSERT_TRUE(it->Valid() && it->key() == key) << key;
    }
  }
}

// The flush of a recovery takes another code path.
TEST_P(DeletesAndVersions, RecoveredRowsHaveFilters) {
  TestDb db(config_);
  db.PutAll(GroupKeys(0, 100, 1), "in the log");
  db.Reopen(config_);
  EXPECT_EQ(db.FilterPolicyNames(), std::set<std::string>{"blocksieve"});
  EXPECT_EQ(CheckReads(&db.db(), db.model(), Absent(100)), "");
  EXPECT_GT(db.Use().rejected, 0u);
}

INSTANTIATE_TEST_SUITE_P(Shapes, DeletesAndVersions, kBothShapes, ParamNames());

// Prefix filters and iterators.
class Iterators : public ::testing::TestWithParam<FilterShape> {
 protected:
  static constexpr uint64_t kGroups = 90;

  // Groups with even numbers, every third in the same file, in three files on two levels.
  Iterators() : db_(Config()) {
    for (uint64_t file = 0; file < 3; ++file) {
      for (uint64_t group = file; group < kGroups; group += 3) {
        for (uint64_t member = 0; member < 6; ++member) {
          db_.Put(GroupKey(2 * group, member), std::string(60, 'v'));
        }
      }
      db_.Flush();
      if (file == 0) db_.Compact();
    }
    db_.ResetUse();
  }

  static DbConfig Config() {
    DbConfig config = MakeConfig(GetParam(), PolicyFromString("blocksieve:0.001"));
    UsePrefixes(&config, kGroupPrefixBytes);
    return config;
  }

  TestDb db_;
};

// tests/PITFALLS.md, 26.
TEST_P(Iterators, ContinueAfterAFilteredFile) {
  rocksdb::ReadOptions within_prefix;
  within_prefix.prefix_same_as_start = true;
  const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(within_prefix));
  for (uint64_t group = 0; group < kGroups; ++group) {
    it->Seek(GroupPrefix(2 * group + 1));
    EXPECT_FALSE(it->Valid()) << group;
    EXPECT_TRUE(it->status().ok()) << it->status().ToString();
    it->Seek(GroupPrefix(2 * group));
    ASSERT_TRUE(it->Valid()) << group;
    EXPECT_EQ(it->key(), GroupKey(2 * group, 0));
    it->SeekForPrev(GroupPrefix(2 * group + 1) + "/9");
    EXPECT_FALSE(it->Valid()) << group;
    it->SeekForPrev(GroupKey(2 * group, 9999));
    ASSERT_TRUE(it->Valid()) << group;
    EXPECT_EQ(it->key(), GroupKey(2 * group, 5));
  }
  EXPECT_GT(db_.Use().prefix_rejected, 0u);
}

// tests/PITFALLS.md, 21: a range that leaves the prefix of its start.
TEST_P(Iterators, ARangeBeyondThePrefixIsNotFiltered) {
  rocksdb::ReadOptions total_order;
  total_order.total_order_seek = true;
  rocksdb::ReadOptions automatic;
  automatic.auto_prefix_mode = true;
  for (const rocksdb::ReadOptions& read_options : {total_order, automatic}) {
    for (uint64_t group = 0; group + 1 < kGroups; ++group) {
      // From an absent prefix on, to the end of the next group.
      const std::string bound_text = GroupPrefix(2 * group + 3);
      const rocksdb::Slice bound(bound_text);
      rocksdb::ReadOptions bounded = read_options;
      bounded.iterate_upper_bound = &bound;
      const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(bounded));
      int found = 0;
      for (it->Seek(GroupPrefix(2 * group + 1)); it->Valid(); it->Next()) ++found;
      ASSERT_EQ(found, 6) << "group " << group;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Iterators, kBothShapes, ParamNames());

// Filters that are not in the cache, or damaged on disk, never make a key "not found".
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
