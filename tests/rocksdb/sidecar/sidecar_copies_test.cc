// SPDX-License-Identifier: Apache-2.0
#include "blocksieve/rocksdb/skip_index.h"
#include "integration/rocksdb/compat/version_differences.h"
#include "integration/rocksdb/index/skip_index_catalog.h"
#include "integration/rocksdb/index/skip_index_properties.h"
#include "integration/rocksdb/sidecar/file.h"
#include "tests/rocksdb/sidecar/sidecar_test_db.h"

// Sidecars of copied SSTs, with and without copies of the sidecars.

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

class SidecarCopiesTest : public SidecarFixture {
 protected:
  static constexpr uint64_t kFiles = 3;

  SidecarCopiesTest() : db_(config_) { FillFiles(&db_, kFiles); }

  std::string Other(const std::string& name = "other") const { return db_.dir() / name; }

  std::unique_ptr<rocksdb::DB> Open(const std::string& path) const {
    return OpenDb(config_.ToOptions(), path);
  }

  std::unique_ptr<rocksdb::DB> OpenBackup() {
    BackUp(&db_.db(), Other("backup"), Other());
    return Open(Other());
  }

  /// Files in which a scan cannot skip anything.
  size_t NumWithoutIndex(rocksdb::DB& db, const std::string& where = "n = 7",
                         const SkipScanOptions& options = AlwaysSkip()) {
    // The process knows the indexes of the same SSTs in the other database.
    for (const auto& [path, properties] : FilesOf(db)) {
      rocksdb_plugin::SkipIndexCatalog::Default().Forget(*properties);
    }
    ScanExplanation explanation;
    ScanBoth(&db, Is(where), &explanation, options);
    return explanation.files_without_index;
  }

  TestDb db_;
};

TEST_F(SidecarCopiesTest, WithoutThemSstsAreReadAsAWhole) {
  MustBeOk(NewCheckpoint(&db_.db())->CreateCheckpoint(Other()));
  auto other = Open(Other());
  EXPECT_EQ(NumWithoutIndex(*other), kFiles);
  // Copies sidecars from the original database.
  uint64_t num_copied = 0;
  MustBeOk(CopySkipIndexes(other.get(), nullptr, db_.path(), &num_copied));
  EXPECT_EQ(num_copied, kFiles);
  EXPECT_EQ(NumWithoutIndex(*other), 0u);
  MustBeOk(CopySkipIndexes(other.get(), nullptr, db_.path(), &num_copied));
  EXPECT_EQ(num_copied, 0u);
}

TEST_F(SidecarCopiesTest, ImportedSstsGetTheirSidecars) {
  const auto checkpoint = NewCheckpoint(&db_.db());
  rocksdb::ExportImportFilesMetaData* exported = nullptr;
  MustBeOk(checkpoint->ExportColumnFamily(db_->DefaultColumnFamily(), Other("export"), &exported));
  const std::unique_ptr<rocksdb::ExportImportFilesMetaData> metadata(exported);
  TestDb other(config_);
  for (int i = 0; i < 5; ++i) other.Fill({"x"});  // so that file numbers differ
  rocksdb::ColumnFamilyHandle* imported = nullptr;
  MustBeOk(other->CreateColumnFamilyWithImport(config_.ToOptions(), "imported", {}, *metadata,
                                               &imported));
  uint64_t num_copied = 0;
  MustBeOk(CopySkipIndexes(&other.db(), imported, db_.path(), &num_copied));
  EXPECT_EQ(num_copied, kFiles);
  ScanExplanation explanation;
  EXPECT_EQ(ScanBoth(&other.db(), Is("n = 7"), &explanation, AlwaysSkip(), imported).size(), 10u);
  EXPECT_EQ(explanation.files_without_index, 0u);
  MustBeOk(other->DestroyColumnFamilyHandle(imported));
}

TEST_F(SidecarCopiesTest, LostSidecarsAreRebuiltWithoutCompaction) {
  const auto other = OpenBackup();
  const std::set<std::string> ssts = NamesWith(Other(), ".sst");
  FileProgress last;
  const auto keep_last = [&](const FileProgress& progress) {
    last = progress;
    return true;
  };
  const auto start = std::chrono::steady_clock::now();
  MustBeOk(RebuildSkipIndexes(other.get(), {}, keep_last, /*bytes_per_second=*/20'000));
  // Checks only the minimum time, for 600 rows of more than 14 bytes.
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(200));
  EXPECT_EQ(last.files_done, kFiles);
  EXPECT_EQ(last.files_left, 0u);
  EXPECT_EQ(last.bytes_left, 0u);
  EXPECT_EQ(NamesWith(Other(), ".sst"), ssts);
  EXPECT_EQ(NumWithoutIndex(*other), 0u);
  // Equal to the index that the collector writes.
  for (const std::string& number : ssts) {
    const std::string rebuilt = ReadFile(Other() + "/" + number + ".bsx");
    const std::string written = ReadFile(Sidecar(db_, number));
    if (rocksdb_plugin::kReadsAllVersions) {
      EXPECT_TRUE(rebuilt.ends_with(written.substr(rocksdb_plugin::kSidecarHeaderBytes)));
    }
    std::filesystem::remove(Sidecar(db_, number));
  }
  // They name their file otherwise, and are copied nevertheless.
  uint64_t num_copied = 0;
  MustBeOk(CopySkipIndexes(&db_.db(), nullptr, Other(), &num_copied));
  EXPECT_EQ(num_copied, kFiles);
}

TEST_F(SidecarCopiesTest, RebuildingIndexesAnotherColumn) {
  const std::set<std::string> ssts = NamesWith(db_.path(), ".sst");
  std::vector<std::string> definitions = {"n=int:field:1", "t=field:2", "w=words:1"};
  // As many as there may be: the header, which has them all, is long.
  while (definitions.size() < 256)
    definitions.push_back(std::to_string(definitions.size()) + "=field:3");
  const SkipIndexOptions options = ShortGranules(definitions);
  DbConfig config = SkipConfig({.index = options, .max_property_bytes = 0});
  config.options.listeners = {NewListener()};
  db_.Reopen(config);
  const Predicate where = Where("w HAS '7'", options.columns);
  ScanExplanation before;
  EXPECT_EQ(ScanBoth(&db_.db(), where, &before).size(), 10u);
  EXPECT_EQ(before.files_pruned, 0u);
  MustBeOk(RebuildSkipIndexes(&db_.db(), {}));
  EXPECT_EQ(NamesWith(db_.path(), ".sst"), ssts);
  ScanExplanation after;
  EXPECT_EQ(ScanBoth(&db_.db(), where, &after).size(), 10u);
  EXPECT_EQ(after.files_pruned, kFiles - 1);
  EXPECT_EQ(NumWithoutIndex(db_.db()), 0u) << "the other columns are there still";
}

TEST_F(SidecarCopiesTest, FilesWithSeveralVersionsAreRebuiltIfAllAreRead) {
  SkipScanOptions old = AlwaysSkip();
  old.snapshot = db_->GetSnapshot();
  for (uint64_t i = 0; i < 200; ++i) db_.Put(Key(i), Value(7000));
  db_.Compact();  // one file with both versions
  const std::string number = *NamesWith(db_.path(), ".sst").begin();
  std::filesystem::remove(Sidecar(db_, number));
  const rocksdb::Status status = RebuildSkipIndexes(&db_.db(), {});
  EXPECT_EQ(status.IsIncomplete(), !rocksdb_plugin::kReadsAllVersions) << status.ToString();
  EXPECT_EQ(NumWithoutIndex(db_.db()), rocksdb_plugin::kReadsAllVersions ? 0u : 1u);
  EXPECT_EQ(Count(db_.db(), "n = 7", nullptr, old), 10u);
  EXPECT_EQ(Count(db_.db(), "n = 7"), 0u);
  db_->ReleaseSnapshot(old.snapshot);
}

TEST_F(SidecarCopiesTest, RowsWithoutPlainValuesAreNeverSkipped) {
  DbConfig config = config_;
  UseMergeOperator(&config, "put");
  TestDb db(config);
  for (uint64_t i = 0; i < 200; ++i) {
    MustBeOk(db->Merge({}, Key(i), Value(i / 10)));
  }
  db.Flush();
  std::filesystem::remove(Sidecar(db, *NamesWith(db.path(), ".sst").begin()));
  const rocksdb::Status status = RebuildSkipIndexes(&db.db(), {});
  if (rocksdb_plugin::kReadsAllVersions) {
    MustBeOk(status);
  } else {
    EXPECT_TRUE(status.IsIncomplete());
    EXPECT_NE(status.ToString().find("merge operands"), std::string::npos) << status.ToString();
  }
  EXPECT_EQ(Count(db.db(), "n = 7"), 10u);
}

// Before RocksDB 9.3, a reference to a blob file is read as if it were the value.
TEST_F(SidecarCopiesTest, FilesKnowTheirBlobReferencesWhateverTheOptionsAre) {
  for (const bool was_on : {true, false}) {
    SCOPED_TRACE(was_on);
    DbConfig config = config_;
    config.options.enable_blob_files = was_on;
    config.options.min_blob_size = 50;
    TestDb db(config);
    const std::string large(100, 'x');
    for (uint64_t i = 0; i < 200; ++i) db.Put(Key(i), Value(i / 10, i < 100 ? large : "text"));
    db.Flush();
    config.options.enable_blob_files = !was_on;
    db.Reopen(config);
    std::filesystem::remove(rocksdb_plugin::SidecarPath(FilesOf(db.db()).begin()->first));
    MustBeOk(RebuildSkipIndexes(&db.db(), {}));
    EXPECT_EQ(NumWithoutIndex(db.db()), 0u);
    for (const std::string where : {"n = 7", "n = 17"}) {
      ScanExplanation explanation;
      EXPECT_EQ(Count(db.db(), where, &explanation), 10u) << where;
      EXPECT_GT(explanation.num_granules, explanation.granules_selected);
      EXPECT_EQ(explanation.granules_always_match, was_on ? 25u : 0u);
    }
  }
}

// The newest version of a row may be one that is not committed, or be rolled back later.
TEST_F(SidecarCopiesTest, RowsOfPreparedTransactionsDoNotHideCommittedOnes) {
  for (const auto policy :
       {rocksdb::WRITE_COMMITTED, rocksdb::WRITE_PREPARED, rocksdb::WRITE_UNPREPARED}) {
    SCOPED_TRACE(policy);
    const TempDir dir;
    const auto db = OpenTransactionDb(config_.ToOptions(), policy, dir / "db");
    for (uint64_t i = 0; i < 200; ++i) MustBeOk(db->Put({}, Key(i), Value(i / 10)));
    const std::unique_ptr<rocksdb::Transaction> prepared(db->BeginTransaction({}));
    MustBeOk(prepared->SetName("prepared"));
    for (uint64_t i = 70; i < 75; ++i) MustBeOk(prepared->Put(Key(i), Value(500)));
    for (uint64_t i = 75; i < 80; ++i) MustBeOk(prepared->Delete(Key(i)));
    MustBeOk(prepared->Prepare());
    MustBeOk(db->Flush({}));
    for (uint64_t i = 200; i < 400; ++i) MustBeOk(db->Put({}, Key(i), Value(i / 10)));
    MustBeOk(db->Flush({}));
    for (const std::string& number : NamesWith(dir / "db", ".bsx")) {
      std::filesystem::remove(dir / "db/" + number + ".bsx");
    }
    // RocksDB before 9.3 shows only the newest versions in the first file.
    const bool is_hidden = !rocksdb_plugin::kReadsAllVersions && policy != rocksdb::WRITE_COMMITTED;
    for (const bool is_plain : {false, true}) {
      rocksdb::DB* const rebuilds = is_plain ? db->GetRootDB() : db.get();
      EXPECT_EQ(RebuildSkipIndexes(rebuilds, {}).IsIncomplete(), is_hidden);
      EXPECT_EQ(NumWithoutIndex(*db), is_hidden ? 1u : 0u);
      EXPECT_EQ(Count(*db, "n = 7"), 10u);
      EXPECT_EQ(Count(*db, "n = 500"), 0u);
      EXPECT_EQ(Count(*db, "n = 27"), 10u);
    }
    MustBeOk(prepared->Rollback());
    EXPECT_EQ(Count(*db, "n = 7"), 10u);
  }
}

}  // namespace
}  // namespace blocksieve
