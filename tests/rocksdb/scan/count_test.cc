// SPDX-License-Identifier: Apache-2.0
#include <rocksdb/utilities/db_ttl.h>

#include <array>
#include <functional>

#include "tests/rocksdb/scan/skip_test_db.h"

// Counts: granules that they do not read are those of the proof in PRUNING.md, and no others.

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

class CountTest : public SkipFixture {
 protected:
  // The granules that are counted without reading. Expects as many rows as a full scan has.
  uint64_t Counted(rocksdb::DB* db, const std::string& where = "n >= 5",
                   const rocksdb::Snapshot* snapshot = nullptr) {
    SkipScanOptions options = AlwaysSkip();
    options.snapshot = snapshot;
    options.use_index = false;
    const size_t rows = Scan(db, nullptr, Is(where), options).size();
    options.use_index = options.count_only = true;
    ScanExplanation explanation;
    EXPECT_TRUE(Scan(db, nullptr, Is(where), options, &explanation).empty());
    EXPECT_EQ(explanation.rows_returned, rows) << explanation.ToText();
    return explanation.granules_counted;
  }
};

TEST_F(CountTest, GranulesWithOtherEntriesAreRead) {
  struct World {
    const char* name;
    std::function<void(TestDb* db)> write;
    std::array<uint64_t, 3> counted;  // of 37, in a memtable, in a file, compacted with a snapshot
  };
  const World worlds[] = {
      {"nothing", [](TestDb*) {}, {37, 37, 37}},
      {"a new key", [](TestDb* db) { db->Put("z", Value(9)); }, {37, 38, 38}},
      {"an update", [](TestDb* db) { db->Put(Key(101), Value(0)); }, {36, 36, 37}},
      {"no column", [](TestDb* db) { db->Put(Key(101), "none"); }, {36, 36, 37}},
      {"a delete", [](TestDb* db) { db->Delete(Key(101)); }, {0, 36, 36}},
      {"a range delete",
       [](TestDb* db) {
         MustBeOk((*db)->DeleteRange({}, (*db)->DefaultColumnFamily(), Key(101), Key(106)));
       },
       {0, 35, 0}},
  };
  for (const World& world : worlds) {
    SCOPED_TRACE(world.name);
    TestDb db(config_);
    Fill(&db.db());
    const rocksdb::Snapshot* const snapshot = db->GetSnapshot();
    world.write(&db);
    size_t state = 0;
    ForEachState(&db, [&] {
      EXPECT_EQ(Counted(&db.db()), world.counted[state++]);
      Counted(&db.db(), "n >= 5", snapshot);
    });
    db->ReleaseSnapshot(snapshot);
  }
}

TEST_F(CountTest, GranulesThatMayHaveOtherRowsAreRead) {
  TestDb db(config_);
  for (uint64_t i = 0; i < 400; ++i) db.Put(Key(i), Value(i * 997));
  db.Flush();
  uint64_t counted = 0;
  for (uint64_t low = 0; low < 100'000; low += 577) {
    const std::string range = std::to_string(low) + " AND " + std::to_string(3 * low + 1009);
    counted += Counted(&db.db(), "n BETWEEN " + range);  // bounds are rounded
    counted += Counted(&db.db(), "NOT n BETWEEN " + range);
  }
  EXPECT_GT(counted, 10'000u);
  for (uint64_t i = 400; i < 800; ++i) db.Put(Key(i - 1), Value(i * 997));
  db.Flush();
  EXPECT_EQ(Counted(&db.db(), "n >= 0"), 198u);  // one key is in both
}

TEST_F(CountTest, DatabasesWithTtlShowWhatIsStored) {
  const TempDir dir;
  rocksdb::DBWithTTL* opened = nullptr;
  config_ = SkipConfig({ShortGranules(kDefinitions), 1 << 20, 4});
  MustBeOk(rocksdb::DBWithTTL::Open(config_.ToOptions(), dir / "ttl", &opened));
  const std::unique_ptr<rocksdb::DB> ttl(opened);
  Fill(ttl.get());
  EXPECT_EQ(Counted(ttl.get()), 37u);
}

}  // namespace
}  // namespace blocksieve
