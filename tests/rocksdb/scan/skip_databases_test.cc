#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "integration/rocksdb/index/skip_index_catalog.h"
#include "integration/rocksdb/index/skip_index_summary.h"
#include "tests/rocksdb/scan/skip_test_db.h"

// Databases in which some files have no index, or a different one.

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

class SkipDatabasesTest : public SkipFixture {
 protected:
  static rocksdb_plugin::SkipIndexSummary ReadSummary(TestDb& db) {
    rocksdb_plugin::SkipIndexSummary summary;
    MustBeOk(rocksdb_plugin::ReadSkipIndexes(&db.db(), nullptr, &summary), "summary");
    return summary;
  }
};

TEST_F(SkipDatabasesTest, FilesWithoutIndexAreReadAndBackfilled) {
  DbConfig plain = config_;
  plain.options.table_properties_collector_factories.clear();
  TestDb db(plain);
  for (uint64_t part = 0; part < 4; ++part) {
    for (uint64_t i = 0; i < 100; ++i) db.Put(Key(part * 100 + i), Value(i / 10));
    db.Flush();
  }
  db.Reopen(config_);
  for (uint64_t i = 400; i < 500; ++i) db.Put(Key(i), Value((i - 400) / 10));
  for (uint64_t i = 0; i < 500; i += 50) db.Put(Key(i), Value(77));
  db.Flush();
  std::string levels_before;
  ASSERT_TRUE(db->GetProperty("rocksdb.levelstats", &levels_before));

  const auto rows_read = [&] {
    ScanExplanation explanation;
    EXPECT_EQ(Count(db.db(), "n = 7", &explanation), 50u);
    EXPECT_EQ(Count(db.db(), "n = 77"), 10u);
    EXPECT_EQ(Count(db.db(), "n = 5"), 45u);
    return explanation.rows_read;
  };
  const uint64_t mixed = rows_read();
  rocksdb_plugin::SkipIndexSummary summary = ReadSummary(db);
  EXPECT_EQ(summary.num_files, 5u);
  EXPECT_EQ(summary.files_with_index, 1u);
  EXPECT_EQ(summary.problems.size(), 4u);
  EXPECT_EQ(summary.columns, columns_);

  std::vector<BackfillProgress> steps;
  MustBeOk(BackfillSkipIndexes(&db.db(), nullptr,
                               [&](const BackfillProgress& step) {
                                 steps.push_back(step);
                                 return true;
                               }),
           "backfill");
  ASSERT_GE(steps.size(), 2u);
  EXPECT_EQ(steps.front().files_left, 4u);
  EXPECT_EQ(steps.back().files_left, 0u);
  EXPECT_GE(steps.back().files_done, 1u);
  EXPECT_LT(rows_read(), mixed / 2);
  std::string levels_after;
  ASSERT_TRUE(db->GetProperty("rocksdb.levelstats", &levels_after));
  EXPECT_EQ(levels_after, levels_before);
  summary = ReadSummary(db);
  EXPECT_EQ(summary.files_with_index, summary.num_files);
  EXPECT_GT(summary.usage[0].bounds_bytes + summary.usage[0].filter_bytes, 0u);
}

TEST_F(SkipDatabasesTest, BackfillingStopsOnRequest) {
  TestDb db(config_);
  Fill(&db.db());
  DbConfig other = SkipConfig(ShortGranules({"n=int:field:1"}));
  db.Reopen(other);
  EXPECT_TRUE(
      BackfillSkipIndexes(&db.db(), nullptr, [](const auto&) { return false; }).IsIncomplete());
  const auto until_none_is_left = [](const BackfillProgress& step) { return step.files_left != 0; };
  MustBeOk(BackfillSkipIndexes(&db.db(), nullptr, until_none_is_left), "backfill");
  DbConfig none = config_;
  none.options.table_properties_collector_factories.clear();
  db.Reopen(none);
  EXPECT_TRUE(BackfillSkipIndexes(&db.db(), nullptr).IsInvalidArgument());
}

TEST_F(SkipDatabasesTest, BackfillingEndsWhereNoIndexIsWritten) {
  {
    TestDb db(config_);
    Fill(&db.db());
    DbConfig two = SkipConfig(ShortGranules({"n=int:field:1"}));
    two.options.table_properties_collector_factories.push_back(
        config_.options.table_properties_collector_factories[0]);
    db.Reopen(two);
    const rocksdb::Status status = BackfillSkipIndexes(&db.db(), nullptr);
    EXPECT_TRUE(status.IsInvalidArgument());
    EXPECT_NE(status.ToString().find("options is 2; allowed: 1"), std::string::npos)
        << status.ToString();
  }
  // Tables of another format, which have no collectors.
  rocksdb::Options options = config_.ToOptions();
  options.table_factory.reset(rocksdb::NewCuckooTableFactory());
  options.allow_mmap_reads = true;
  const TempDir dir;
  const auto db = OpenDb(options, dir / "db");
  Fill(db.get());
  const rocksdb::Status status = BackfillSkipIndexes(db.get(), nullptr);
  EXPECT_TRUE(status.IsIncomplete()) << status.ToString();
  EXPECT_NE(status.ToString().find("without the skip index"), std::string::npos);
}

// tests/PITFALLS.md, 33: a column that was dropped, and its name given to another field.
TEST_F(SkipDatabasesTest, AColumnOfTheSameNameIsNotTheSameColumn) {
  TestDb db(config_);
  for (uint64_t i = 0; i < 100; ++i) db.Put(Key(i), "1\tx" + std::to_string(i));
  db.Flush();
  const SkipIndexOptions redefined = ShortGranules({"t=field:1"});
  db.Reopen(SkipConfig(redefined));
  for (uint64_t i = 100; i < 200; ++i) db.Put(Key(i), "1\tx" + std::to_string(i));
  db.Flush();
  const auto is = [&](const std::string& text) { return Where(text, redefined.columns); };
  EXPECT_EQ(ScanBoth(&db.db(), is("t = '1'")).size(), 200u);
  EXPECT_EQ(ScanBoth(&db.db(), is("t = 'x7'")).size(), 0u);
  EXPECT_EQ(Count(db.db(), "t = 'x7'"), 1u);
  EXPECT_EQ(Count(db.db(), "t = 'x107'"), 1u);
  rocksdb_plugin::SkipIndexSummary summary = ReadSummary(db);
  // The newest definition of t, and n.
  EXPECT_EQ(summary.columns.size(), 2u);
  EXPECT_EQ(summary.columns[1], redefined.columns[0]);
  EXPECT_EQ(summary.usage.size(), 3u);
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
  MustBeOk(db->IngestExternalFile({path}, {}), "ingest");
  overwrite_every(13);

  SkipScanOptions options = AlwaysSkip();
  options.snapshot = db->GetSnapshot();
  SkipScanOptions plain = options;
  plain.use_index = false;
  const ScannedRows expected = Scan(&db.db(), nullptr, Is("n = 7"), plain);
  std::unique_ptr<SkipScan> scan;
  MustBeOk(SkipScan::Create(&db.db(), nullptr, Is("n = 7"), options, &scan), "scan");
  db.Compact();
  MustBeOk(db->IngestExternalFile({path}, {}), "ingest again");
  ScannedRows rows;
  for (; scan->Valid(); scan->Next()) {
    rows.emplace_back(scan->key().ToString(), scan->value().ToString());
  }
  MustBeOk(scan->status(), "scan");
  EXPECT_EQ(rows, expected) << scan->Explain().ToText();
  EXPECT_GT(scan->Explain().files_vanished, 0u);
  scan.reset();
  db->ReleaseSnapshot(options.snapshot);
}

}  // namespace
}  // namespace blocksieve
