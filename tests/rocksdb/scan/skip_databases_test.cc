// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <rocksdb/utilities/db_ttl.h>
#include <rocksdb/version.h>

#include <array>
#include <cctype>
#include <filesystem>
#include <functional>

#include "tests/rocksdb/scan/skip_test_db.h"

// Databases in which some files have no index, or a different one.

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using SkipDatabasesTest = SkipFixture;

TEST_F(SkipDatabasesTest, RebuildingNeedsTablesOfBlocks) {
  rocksdb::Options options = config_.ToOptions();
  options.table_factory.reset(rocksdb::NewCuckooTableFactory());
  options.allow_mmap_reads = true;
  const TempDir dir;
  const auto db = OpenDb(options, dir / "db");
  EXPECT_TRUE(RebuildSkipIndexes(db.get(), {}).IsNotSupported());
}

// tests/PITFALLS.md, 33: a column that was dropped, and its name given to another field.
TEST_F(SkipDatabasesTest, AColumnOfTheSameNameIsNotTheSameColumn) {
  TestDb db(config_);
  for (uint64_t i = 0; i < 100; ++i) db.Put(Key(i), "1\tx" + std::to_string(i));
  db.Flush();
  const SkipIndexOptions redefined = ShortGranules({"t=field:1"});
  db.Reopen(SkipConfig({redefined}));
  for (uint64_t i = 100; i < 200; ++i) db.Put(Key(i), "1\tx" + std::to_string(i));
  db.Flush();
  const auto is = [&](const std::string& text) { return Where(text, redefined.columns); };
  EXPECT_EQ(ScanBoth(&db.db(), is("t = '1'")).size(), 200u);
  EXPECT_EQ(ScanBoth(&db.db(), is("t = 'x7'")).size(), 0u);
  EXPECT_EQ(Count(db.db(), "t = 'x7'"), 1u);
  EXPECT_EQ(Count(db.db(), "t = 'x107'"), 1u);
}

// Two files have the same contents. The planned one is deleted, and the other must not replace it.
TEST_F(SkipDatabasesTest, AFileIngestedAgainDuringAScan) {
  config_.options.disable_auto_compactions = true;
  TestDb db(config_);
  const std::string path = db.dir() / "ingested.sst";
  TestDb::Model ingested;
  for (uint64_t i = 1000; i < 1100; ++i) ingested[Key(i)] = Value(7);
  WriteSst(config_.ToOptions(), path, ingested);
  const auto overwrite_every = [&](uint64_t step) {
    for (uint64_t i = 0; i < 1100; i += step) db.Put(Key(i), Value(1));
    db.Flush();
  };
  for (uint64_t i = 0; i < 50; ++i) db.Put(Key(i), Value(7));
  db.Flush();
  overwrite_every(9);
  MustBeOk(db->IngestExternalFile({path}, {}));
  overwrite_every(13);

  SkipScanOptions options = AlwaysSkip();
  options.snapshot = db->GetSnapshot();
  const ScannedRows expected = ScanBoth(&db.db(), Is("n = 7"), nullptr, options);
  std::unique_ptr<SkipScan> scan;
  MustBeOk(SkipScan::Create(&db.db(), nullptr, Is("n = 7"), options, &scan));
  db.Compact();
  MustBeOk(db->IngestExternalFile({path}, {}));
  ScannedRows rows;
  for (; scan->Valid(); scan->Next()) {
    rows.emplace_back(scan->key().ToString(), scan->value().ToString());
  }
  MustBeOk(scan->status());
  EXPECT_EQ(rows, expected) << scan->Explain().ToText();
  EXPECT_GT(scan->Explain().files_vanished, 0u);
  scan.reset();
  db->ReleaseSnapshot(options.snapshot);
}

// Renames the properties block of tables without checksums, as if another program had written them.
void HideProperties(const std::string& db_path) {
  constexpr std::string_view kName = "rocksdb.properties";
  for (const auto& entry : std::filesystem::directory_iterator(db_path)) {
    if (entry.path().extension() != ".sst") continue;
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(file), {});
    const size_t found = bytes.rfind(kName);
    ASSERT_NE(found, std::string::npos);
    file.seekp(static_cast<std::streamoff>(found + kName.size() - 1)).put('z');
  }
}

TEST(TablePropertiesTest, TablesWithoutThemAreScannedAndRewritten) {
  if (ROCKSDB_MAJOR >= 11) GTEST_SKIP() << "RocksDB does not open such tables";
  for (const int max_open_files : {-1, 10}) {  // 10: RocksDB reads them for each call
    DbConfig config = SkipConfig({ShortGranules({"n=int:field:1"})});
    config.table.checksum = rocksdb::kNoChecksum;
    config.table.format_version = 2;  // later ones need properties to read the index
    config.table.filter_policy = NewPolicy({.target_fpr = 0.01});
    config.options.max_open_files = max_open_files;
    config.options.verify_sst_unique_id_in_manifest = false;  // the id is in the properties
    DbConfig plain = config;
    plain.table.filter_policy = nullptr;
    plain.options.table_properties_collector_factories.clear();
    TestDb db(plain);
    for (int file = 0; file < 2; ++file) {
      for (int i = 0; i < 100; ++i) db.Put(std::to_string(1000 * file + i), std::to_string(i % 10));
      db.Flush();
    }
    db.Close();
    HideProperties(db.path());
    db.Open(config);
    const auto columns = Columns({"n=int:field:1"});
    ScanExplanation explanation;
    const auto count_sevens = [&] {
      return Scan(&db.db(), nullptr, Where("n = 7", columns), AlwaysSkip(), &explanation).size();
    };
    EXPECT_EQ(count_sevens(), 20u);
    EXPECT_THAT(explanation.full_scan_reason, HasSubstr("without properties"));
    const PrunedRead pruned(&db.db());  // RocksDB would pass null to a table filter
    EXPECT_EQ(pruned.counts().files_pruned, 0u);
    EXPECT_EQ(pruned.rows.size(), 20u);
    EXPECT_THAT(ProblemsOf(&db.db()), ElementsAre(HasSubstr("2 of 2 files have no filters")));
    std::vector<FilterMetric> metrics;
    MustBeOk(GetFilterMetrics(&db.db(), {}, &metrics));
    EXPECT_THAT(FilterMetricsText(metrics), HasSubstr(",column_family=\"default\"} 2"));
    MustBeOk(CopySkipIndexes(&db.db(), nullptr, db.path()));
    EXPECT_TRUE(RebuildSkipIndexes(&db.db(), {}).IsIncomplete());
    if (ROCKSDB_MAJOR >= 8) {
      EXPECT_TRUE(RewriteFilters(&db.db(), {}).IsNotSupported());
      continue;
    }
    MustBeOk(RewriteFilters(&db.db(), {}));
    EXPECT_THAT(ProblemsOf(&db.db()), IsEmpty());
    EXPECT_EQ(count_sevens(), 20u);
    EXPECT_EQ(explanation.full_scan_reason, "");
  }
}

// Databases that RandomDatabaseTest does not have, and databases that a scan refuses.

using SkipDatabaseKindsTest = SkipFixture;

/// For this order, keys with different bytes can be equal (tests/PITFALLS.md, needs, 9).
class IgnoresCase final : public rocksdb::Comparator {
 public:
  const char* Name() const override { return "IgnoresCase"; }
  int Compare(const rocksdb::Slice& a, const rocksdb::Slice& b) const override {
    return Lower(a).compare(Lower(b));
  }
  bool CanKeysWithDifferentByteContentsBeEqual() const override { return true; }
  void FindShortestSeparator(std::string*, const rocksdb::Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}

 private:
  static std::string Lower(const rocksdb::Slice& key) {
    std::string lower = key.ToString();
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return lower;
  }
};

// Rows have the key written last, as in a full scan. Only backwards, RocksDB's iterators show the
// first key. Filters would deny the other spelling, so there are none of whole keys.
TEST_F(SkipDatabaseKindsTest, KeysOfOtherBytesThatAreEqual) {
  const IgnoresCase ignores_case;
  config_.options.comparator = &ignores_case;
  config_.table.filter_policy = NewPolicy({.target_fpr = 0.01});
  config_.table.whole_key_filtering = false;
  TestDb db(config_);
  Fill(&db.db());
  for (uint64_t i = 0; i < 200; i += 2) {
    MustBeOk(db->Put({}, "K" + Key(i).substr(1), Value(7)));
  }
  for (const bool is_flushed : {false, true}) {
    if (is_flushed) MustBeOk(db->Flush({}));
    std::string value;
    for (uint64_t i = 0; i < 200; ++i) MustBeOk(db->Get({}, Key(i), &value));
    // 100 overwritten rows, and five others.
    for (const auto& [where, num_rows] : {std::pair("n = 7", 105u), std::pair("n = 8", 5u)}) {
      SkipScanOptions options = AlwaysSkip();
      ScanExplanation explanation;
      const ScannedRows rows = Scan(&db.db(), nullptr, Is(where), options, &explanation);
      EXPECT_EQ(rows.size(), num_rows);
      EXPECT_FALSE(explanation.is_full_scan);
      options.reverse = true;
      EXPECT_EQ(Scan(&db.db(), nullptr, Is(where), options).size(), num_rows);
      options.reverse = false;
      options.use_index = false;
      EXPECT_EQ(rows, Scan(&db.db(), nullptr, Is(where), options));
    }
  }
}

TEST_F(SkipDatabaseKindsTest, KeysThatAreEqualDifferInColumnsOfTheKey) {
  const IgnoresCase ignores_case;
  DbConfig config = SkipConfig({.index = ShortGranules({"k=key:all"})});
  config.options.comparator = &ignores_case;
  TestDb db(config);
  MustBeOk(db->Put({}, "abc", "old"));
  db.Compact();
  MustBeOk(db->Put({}, "ABC", "new"));
  MustBeOk(db->Flush({}));
  for (const auto& [condition, num_rows] : {std::pair("k = 'abc'", 0u), {"k = 'ABC'", 1u}}) {
    std::unique_ptr<rocksdb::Iterator> rows;
    MustBeOk(NewIterator(&db.db(), nullptr, condition, {}, &rows));
    rows->SeekToFirst();
    EXPECT_EQ(rows->Valid(), num_rows == 1) << condition;
    EXPECT_EQ(
        Scan(&db.db(), nullptr, Where(condition, Columns({"k=key:all"})), AlwaysSkip()).size(),
        num_rows)
        << condition;
  }
}

// DBWithTTL appends a time to each value.
TEST_F(SkipDatabaseKindsTest, TtlDatabases) {
  for (const uint32_t suffix : {0u, 4u}) {
    const TempDir dir;
    const DbConfig config = SkipConfig(
        {.index = ShortGranules({"n=int:field:1", "t=field:2"}), .value_suffix_bytes = suffix});
    rocksdb::DBWithTTL* opened = nullptr;
    MustBeOk(rocksdb::DBWithTTL::Open(config.ToOptions(), dir / "db", &opened, 100'000));
    const std::unique_ptr<rocksdb::DBWithTTL> db(opened);
    rocksdb::DB* const dbs[] = {db.get(), db->GetBaseDB()};
    const bool is_of_base = suffix != 0;
    EXPECT_THAT(ProblemsOf(dbs[is_of_base ? 0 : 1]), IsEmpty());
    const std::string hidden = is_of_base ? "0" : "4";
    EXPECT_THAT(ProblemsOf(dbs[is_of_base ? 1 : 0]),
                ElementsAre("value_suffix_bytes is " + std::to_string(suffix) +
                            " in the skip index, but the database hides " + hidden +
                            " bytes at the end of values, so no read uses the columns; set it to " +
                            hidden + "; RebuildSkipIndexes gives files the new index"));
    Fill(db.get());
    for (const bool overlapped : {false, true}) {
      if (overlapped) {
        for (uint64_t i = 0; i < 200; i += 3) MustBeOk(db->Put({}, Key(i), Value(500)));
        MustBeOk(db->Flush({}));
      }
      ScanExplanation explanation;
      EXPECT_EQ(Count(*db, "t = 'text' AND n = 7", &explanation), overlapped ? 7u : 10u);
      EXPECT_EQ(explanation.is_full_scan, suffix == 0) << explanation.ToText();
      if (overlapped) continue;
      EXPECT_EQ(PrunedRead(db.get()).rows.size(), 10u);
      // Without the suffix, the index takes the time for a part of the value.
      const ReadPruningCounts counts = PrunedRead(db.get(), "n = 77").counts();
      EXPECT_EQ(counts.files_pruned, suffix == 0 ? 0u : 1u);
      EXPECT_EQ(counts.files_without_index, suffix == 0 ? 1u : 0u);
      SkipScanOptions counting = AlwaysSkip();
      counting.count_only = true;
      Scan(db.get(), nullptr, Is("n >= 5"), counting, &explanation);
      EXPECT_EQ(explanation.granules_counted, suffix == 0 ? 0u : 37u);
    }
  }
}

// Counts: granules that they do not read are those of the proof in PRUNING.md, and no others.

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

}  // namespace
}  // namespace blocksieve
