// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rocksdb/version.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "blocksieve/rocksdb.h"
#include "tests/rocksdb/scan/skip_test_db.h"
#include "tests/support/new_policy.h"

// Databases in which some files have no index, or a different one.

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

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
  SkipScanOptions plain = options;
  plain.use_index = false;
  const ScannedRows expected = Scan(&db.db(), nullptr, Is("n = 7"), plain);
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
    const auto sevens = [&](std::string* reason) {
      ScanExplanation explanation;
      const auto columns = Columns({"n=int:field:1"});
      const auto rows =
          Scan(&db.db(), nullptr, Where("n = 7", columns), AlwaysSkip(), &explanation);
      *reason = explanation.full_scan_reason;
      return rows.size();
    };
    std::string reason;
    EXPECT_EQ(sevens(&reason), 20u);
    EXPECT_NE(reason.find("without properties"), std::string::npos) << reason;
    const PrunedRead pruned(&db.db());  // RocksDB would pass null to a table filter
    EXPECT_EQ(pruned.counts().files_pruned, 0u);
    EXPECT_EQ(pruned.rows.size(), 20u);
    std::vector<std::string> problems;
    MustBeOk(CheckFilters(&db.db(), {}, &problems));
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_NE(problems[0].find("2 of 2 files have no filters"), std::string::npos) << problems[0];
    std::vector<FilterMetric> metrics;
    MustBeOk(GetFilterMetrics(&db.db(), {}, &metrics));
    EXPECT_NE(FilterMetricsText(metrics).find("_files_without_filter{column_family=\"default\"} 2"),
              std::string::npos);
    MustBeOk(CopySkipIndexes(&db.db(), nullptr, db.path()));
    EXPECT_TRUE(RebuildSkipIndexes(&db.db(), {}).IsIncomplete());

    if (ROCKSDB_MAJOR >= 8) {
      EXPECT_TRUE(RewriteFilters(&db.db(), {}).IsNotSupported());
      continue;
    }
    MustBeOk(RewriteFilters(&db.db(), {}));
    problems.clear();
    MustBeOk(CheckFilters(&db.db(), {}, &problems));
    EXPECT_TRUE(problems.empty()) << problems[0];
    EXPECT_EQ(sevens(&reason), 20u);
    EXPECT_EQ(reason, "");
  }
}

}  // namespace
}  // namespace blocksieve
