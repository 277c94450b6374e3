// SPDX-License-Identifier: Apache-2.0
#include <rocksdb/cache.h>

#include <atomic>
#include <thread>

#include "tests/rocksdb/scan/skip_test_db.h"

// Readers, tables, column families and databases open and close during probes and scans
// (tests/PITFALLS.md, 34).

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

class LifetimesTest : public SkipFixture, public ::testing::WithParamInterface<FilterShape> {
 protected:
  LifetimesTest() {
    [[maybe_unused]] static const int registered = blocksieve_rocksdb_register();
    config_.table = MakeConfig(GetParam(), PolicyFromString("blocksieve:0.01")).table;
    config_.table.block_cache = rocksdb::NewLRUCache(64 << 10, 1);
    config_.table.cache_index_and_filter_blocks = true;
  }

  /// The number of rows with 17 that Fill and WriteFile write.
  static constexpr uint64_t kRowsOfSeventeen = 10;

  /// Writes a file with keys of the whole range, so that lookups check every file.
  static void WriteFile(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family,
                        uint64_t number) {
    for (uint64_t i = 0; i < 50; ++i) {
      MustBeOk(db->Put({}, column_family, FileKey(number, i), Value(1000 + number)));
    }
    MustBeOk(db->Flush({}, column_family));
  }
  static std::string FileKey(uint64_t number, uint64_t i) {
    return Key(i * 1000 + number + 200) + "f";
  }

  static uint64_t CountRows(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family,
                            const Predicate& predicate) {
    return Scan(db, column_family, predicate, AlwaysSkip()).size();
  }

  /// Looks up all rows of Fill, and as many absent ones.
  static void LookUpAll(rocksdb::DB* db) {
    std::string value;
    for (uint64_t i = 0; i < 200; ++i) {
      ASSERT_TRUE(db->Get({}, Key(i), &value).ok());
      ASSERT_TRUE(db->Get({}, Key(i) + "+", &value).IsNotFound());
    }
  }
};

TEST_P(LifetimesTest, ColumnFamiliesAreDroppedWhileScansOfThemRun) {
  TestDb db(config_);
  Fill(&db.db());
  for (int round = 0; round < 10; ++round) {
    rocksdb::ColumnFamilyHandle* family = nullptr;
    MustBeOk(db->CreateColumnFamily(config_.ToOptions(), "family", &family));
    Fill(&db.db(), family);
    WriteFile(&db.db(), family, 1);
    std::atomic<bool> is_dropped = false;
    std::atomic<uint64_t> scans = 0;
    uint64_t scans_after = 0;
    std::thread scanning([&] {
      // Also scans that begin after the drop: RocksDB keeps what the handle refers to.
      while (scans_after < 3 && !HasFailure()) {
        const bool after = is_dropped;
        ASSERT_EQ(CountRows(&db.db(), family, Is("n = 17")), kRowsOfSeventeen);
        ASSERT_EQ(CountRows(&db.db(), family, Is("n = 1001")), 50u);
        ++scans;
        scans_after += after;
      }
    });
    std::unique_ptr<SkipScan> half_way;
    MustBeOk(SkipScan::Create(&db.db(), family, Is("n >= 0"), {}, &half_way));
    for (int i = 0; i < 100; ++i) half_way->Next();
    while (scans == 0 && !HasFailure()) std::this_thread::yield();
    MustBeOk(db->DropColumnFamily(family));
    is_dropped = true;
    uint64_t rows = 100;
    for (; half_way->Valid(); half_way->Next()) ++rows;
    EXPECT_TRUE(half_way->status().ok());
    EXPECT_EQ(rows, 250u);
    half_way.reset();
    scanning.join();
    MustBeOk(db->DestroyColumnFamilyHandle(family));
    // The catalog of indexes and the cache, which column families share, still work.
    EXPECT_EQ(CountRows(&db.db(), nullptr, Is("n = 17")), kRowsOfSeventeen);
  }
}

// All share one cache and one catalog of indexes. Readers in the cache outlive their databases and
// policies.
TEST_P(LifetimesTest, DatabasesOpenAndCloseWhileOthersAreScanned) {
  TestDb lasting(config_);
  Fill(&lasting.db());
  for (uint64_t number = 0; number < 5; ++number) {
    WriteFile(&lasting.db(), lasting->DefaultColumnFamily(), number);
  }
  const auto come_and_go = [this] {
    DbConfig config = config_;
    config.table.filter_policy = PolicyFromString("blocksieve:0.1");
    TestDb db(config);
    Fill(&db.db());
    for (const char* const other : {"blocksieve:0.01", "blocksieve:0.1"}) {
      ASSERT_EQ(CountRows(&db.db(), nullptr, Is("n = 17")), kRowsOfSeventeen);
      LookUpAll(&db.db());
      EXPECT_GT(db.Use().rejected, 0u);
      config.table.filter_policy = PolicyFromString(other);
      db.Reopen(config);
    }
  };
  constexpr int kThreads = 2;
  std::atomic<int> running = kThreads;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 15 && !HasFailure(); ++round) come_and_go();
      --running;
    });
  }
  for (uint64_t i = 0; running > 0; ++i) {
    const std::string number = std::to_string(1000 + i % 5);
    EXPECT_EQ(CountRows(&lasting.db(), nullptr, Is("n = " + number)), 50u);
  }
  for (std::thread& thread : threads) thread.join();
}

INSTANTIATE_TEST_SUITE_P(Shapes, LifetimesTest, kBothShapes, ParamNames());

}  // namespace
}  // namespace blocksieve
