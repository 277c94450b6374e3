// SPDX-License-Identifier: Apache-2.0
#include <rocksdb/sst_file_writer.h>

#include <algorithm>

#include "integration/rocksdb/compat/version_differences.h"
#include "integration/rocksdb/index/skip_index_catalog.h"
#include "integration/rocksdb/index/skip_index_properties.h"
#include "integration/rocksdb/sidecar/databases.h"
#include "integration/rocksdb/sidecar/file.h"
#include "tests/rocksdb/sidecar/sidecar_test_db.h"
#include "tests/support/logs.h"

// When and where sidecars are written, and when they are deleted.

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

class SidecarLifeTest : public SidecarFixture {
 protected:
  /// Number of files whose properties have a whole index, or name a sidecar.
  static uint64_t CountProperty(rocksdb::DB& db, const char* name) {
    uint64_t count = 0;
    for (const auto& [path, file] : FilesOf(db))
      count += file->user_collected_properties.count(name);
    return count;
  }

  static uint64_t NumInProperties(rocksdb::DB& db) {
    return CountProperty(db, rocksdb_plugin::kIndexProperty);
  }

  static void ExpectOneForEachSst(const TestDb& db, size_t num_ssts) {
    EXPECT_EQ(NamesWith(db.path(), ".bsx").size(), num_ssts);
    EXPECT_EQ(NamesWith(db.path(), ".bsx"), NamesWith(db.path(), ".sst"));
  }

  /// Checks that the indexes of all files find the ten rows with a number, which are in one file.
  void ExpectIndexed(rocksdb::DB& db) {
    ScanExplanation explanation;
    EXPECT_EQ(Count(db, "n = 7", &explanation), 10u);
    EXPECT_LE(explanation.granules_selected, 3u);
    EXPECT_GE(explanation.key_ranges_read, 1u);
    EXPECT_EQ(explanation.files_pruned, explanation.num_files - 1);
    EXPECT_TRUE(explanation.file_problems.empty());
  }
};

TEST_F(SidecarLifeTest, SidecarsAreWrittenAndDeletedWithTheirSsts) {
  TestDb db(config_);
  FillFiles(&db);
  ExpectOneForEachSst(db, 3);
  EXPECT_EQ(NumInProperties(db.db()), 0u);
  EXPECT_EQ(CountProperty(db.db(), rocksdb_plugin::kSidecarProperty), 3u);
  ExpectIndexed(db.db());
  db.Compact();
  ExpectOneForEachSst(db, 1);
  ExpectIndexed(db.db());
  db.Reopen(config_);
  ExpectIndexed(db.db());
  EXPECT_EQ(Count(db.db(), "n = 7 AND t = 'text'"), 10u);
}

TEST_F(SidecarLifeTest, WithoutAListenerIndexesAreInThePropertiesAndTheLogSaysSoOnce) {
  std::optional<TestDb> db;
  const std::string log = CatchStderr([&] {
    db.emplace(Config({}));
    FillFiles(&*db);
  });
  EXPECT_EQ(NamesWith(db->path(), ".bsx").size(), 0u);
  EXPECT_EQ(NumInProperties(db->db()), 3u);
  ExpectIndexed(db->db());
  EXPECT_EQ(CountOf(log, "add blocksieve::NewListener()"), 1u) << log;
  EXPECT_EQ(CountOf(log, "NewListener()"), 1u) << log;
}

TEST_F(SidecarLifeTest, FilesOfWritersAndOfRecoveryKeepThemInTheProperties) {
  std::optional<TestDb> db;
  const std::string log = CatchStderr([&] {
    db.emplace(config_);
    const std::string path = db->dir() / "written.sst";
    TestDb::Model rows;
    for (uint64_t i = 0; i < 200; ++i) rows[Key(i)] = Value(i / 10);
    WriteSst(config_.ToOptions(), path, rows);
    MustBeOk(db->db().IngestExternalFile({path}, {}));
    for (uint64_t i = 200; i < 400; ++i) db->Put(Key(i), Value(i / 10));
    db->Reopen(config_);
  });
  EXPECT_EQ(log, "");
  EXPECT_EQ(NamesWith(db->path(), ".bsx").size(), 0u);
  EXPECT_EQ(NumInProperties(db->db()), 2u);
  ExpectIndexed(db->db());
}

// RocksDB moves the SST of a remote compaction to the database, also from a worker in this process.
TEST_F(SidecarLifeTest, SstsThatAreWrittenElsewhereKeepThemInTheProperties) {
  const TempDir other;
  config_.options.cf_paths = {{other / "fast", 1}, {other / "slow", 1 << 30}};
  TestDb db(config_);
  FillFiles(&db);
  EXPECT_EQ(NamesWith(other / "fast", ".bsx"), NamesWith(other / "fast", ".sst"));
  const auto place = [&](const std::string& directory) {
    rocksdb::TableFileCreationInfo sst;
    sst.db_name = db.path();
    sst.file_path = directory + "/000099.sst";
    sst.reason = rocksdb::TableFileCreationReason::kCompaction;
    sst.cf_name = "default";
    rocksdb_plugin::OnSstStarted(config_.options.listeners[0].get(), sst);
    const auto started = rocksdb_plugin::TakeStartedSst(/*family_id=*/0, /*level=*/1);
    EXPECT_TRUE(started.has_listener);
    const auto written = rocksdb_plugin::TakeWrittenSst(sst);
    EXPECT_TRUE(written.has_value());
    rocksdb_plugin::OnSstCreated(*written, sst);
    return started.place.has_value();
  };
  EXPECT_TRUE(place(db.path()));
  EXPECT_TRUE(place(other / "fast"));
  EXPECT_FALSE(place(db.dir() / "worker"));
  EXPECT_FALSE(place(db.path() + "/worker"));
}

// They are on the file system of their database. Stores in memory have one name each; a program
// that gave them one listener lost their indexes.
TEST_F(SidecarLifeTest, DatabasesOfOneNameInSeveralEnvsHaveTheirOwn) {
  for (const bool share_listener : {false, true}) {
    const auto log = std::make_shared<MemoryLogger>();
    config_ = Config({NewListener()}, 0, log);
    config_.options.info_log = log;
    std::vector<std::unique_ptr<rocksdb::Env>> envs;
    std::vector<std::unique_ptr<rocksdb::DB>> dbs;
    for (int i = 0; i < 2; ++i) {
      envs.emplace_back(rocksdb::NewMemEnv(rocksdb::Env::Default()));
      config_.options.env = envs.back().get();
      if (!share_listener) config_.options.listeners = {NewListener()};
      dbs.push_back(blocksieve::testing::OpenDb(config_.ToOptions(), "/store"));
    }
    for (int round = 0; round < 3; ++round) {
      for (const auto& db : dbs) Fill(db.get(), db->DefaultColumnFamily());
    }
    for (const auto& db : dbs) MustBeOk(db->CompactRange({}, nullptr, nullptr));
    for (size_t i = 0; i < dbs.size(); ++i) {
      SCOPED_TRACE(i);
      // Without the index, the scan reads all rows.
      ScanExplanation explanation;
      EXPECT_EQ(Count(*dbs[i], "n = 7", &explanation), 10u);
      EXPECT_TRUE(explanation.file_problems.empty());
      std::vector<std::string> names;
      MustBeOk(envs[i]->GetChildren("/store", &names));
      const auto num_with = [&](const char* suffix) {
        return std::ranges::count_if(names, [&](auto& name) { return name.ends_with(suffix); });
      };
      // The first flush came before the listener knew that there is another database.
      EXPECT_EQ(num_with(".bsx"), share_listener ? 1 - static_cast<int>(i) : num_with(".sst"));
    }
    EXPECT_EQ(share_listener, log->text().find("the same listener") != std::string::npos);
    dbs.clear();
  }
}

TEST_F(SidecarLifeTest, ANoteThatNobodyTakesIsTakenByNoOtherSst) {
  const auto log = std::make_shared<MemoryLogger>();
  config_ = Config({NewListener()}, 0, log);
  config_.options.info_log = log;
  TestDb db(config_);
  FillFiles(&db, 1);
  rocksdb::TableFileCreationInfo sst;
  sst.db_name = db.path();
  sst.cf_name = "default";
  sst.file_path = db.path() + "/000099.sst";
  sst.reason = rocksdb::TableFileCreationReason::kCompaction;
  sst.table_properties.property_collectors_names = "[]";
  auto* const listener = config_.options.listeners[0].get();
  // An SST without a collector, in which a compaction filter writes SSTs.
  listener->OnTableFileCreationStarted(sst);
  const TestDb::Model rows = {{"key", "7\ttext"}};
  WriteSst(config_.ToOptions(), db.dir() / "written.sst", rows);
  rocksdb::SstFileWriter writer({}, config_.ToOptions(), db->DefaultColumnFamily());
  MustBeOk(writer.Open(db.dir() / "of_family.sst"));
  MustBeOk(writer.Put("key", "7\ttext"));
  MustBeOk(writer.Finish());
  EXPECT_EQ(NamesWith(db.path(), ".bsx"), NamesWith(db.path(), ".sst"));
  EXPECT_EQ(log->text().find("NewListener"), std::string::npos) << log->text();
  EXPECT_FALSE(rocksdb_plugin::TakeStartedSst(/*family_id=*/1, 1).place) << "another family's";
  // A database without a listener, in the same thread, cannot be told apart; its sidecar goes.
  const auto taken = rocksdb_plugin::TakeStartedSst(0, 1).place;
  ASSERT_TRUE(taken);
  EXPECT_FALSE(rocksdb_plugin::TakeStartedSst(0, 1).place) << "taken twice";
  MustBeOk(rocksdb_plugin::WriteSidecar(*taken, {}, ""));
  rocksdb::TableFileCreationInfo nested = sst;
  nested.job_id = 7;
  listener->OnTableFileCreationStarted(nested);  // and its end is never reported
  listener->OnTableFileCreated(sst);
  EXPECT_EQ(NamesWith(db.path(), ".bsx"), NamesWith(db.path(), ".sst"));
  EXPECT_NE(log->text().find("deleted sidecar " + db.path() + "/000099.bsx"), std::string::npos);
  EXPECT_FALSE(rocksdb_plugin::TakeStartedSst(0, 1).has_listener) << "a note is left";
}

TEST_F(SidecarLifeTest, EachIsInTheDirectoryOfItsSst) {
  const TempDir other;
  config_.options.db_paths = {{other / "fast", 1}, {other / "slow", 1 << 30}};
  TestDb db(config_);
  FillFiles(&db);
  db.Compact();
  FillFiles(&db, 1);
  uint64_t num_ssts = 0;
  for (const char* const name : {"fast", "slow"}) {
    EXPECT_EQ(NamesWith(other / name, ".bsx"), NamesWith(other / name, ".sst")) << name;
    num_ssts += NamesWith(other / name, ".sst").size();
  }
  EXPECT_GE(num_ssts, 2u);
  EXPECT_TRUE(Problems(db).empty());
}

TEST_F(SidecarLifeTest, OrphansAreDeletedAtTheFirstWrite) {
  TestDb db(config_);
  FillFiles(&db);
  // Stock RocksDB deletes SSTs only.
  DbConfig stock = Config({});
  stock.options.table_properties_collector_factories.clear();
  db.Reopen(stock);
  db.Compact();
  EXPECT_EQ(NamesWith(db.path(), ".bsx").size(), 3u);
  WriteFile(db.path() + "/notes.bsx", "of somebody else");
  db.Reopen(config_);
  EXPECT_EQ(NamesWith(db.path(), ".bsx").size(), 4u);
  db.Put("x", Value(1));
  db.Flush();
  EXPECT_EQ(NamesWith(db.path(), ".bsx").size(), 2u) << "notes and the new one";
  EXPECT_EQ(ReadFile(db.path() + "/notes.bsx"), "of somebody else");
}

TEST_F(SidecarLifeTest, AScanReadsOnlyItsColumns) {
  TestDb db(config_);
  FillFiles(&db, 1);
  const auto file = *FilesOf(db.db()).begin();
  const rocksdb_plugin::SstPlace sst{db->GetEnv()->GetFileSystem(), file.first};
  rocksdb_plugin::SkipIndexCatalog catalog(1 << 20);
  const auto open = [&](const std::vector<Column>& columns) {
    return catalog.Open(file.second, sst, columns);
  };
  const auto one = open({columns_[0]});
  ASSERT_NE(one->index(), nullptr) << one->problem();
  EXPECT_TRUE(one->is_in_sidecar());
  EXPECT_EQ(one->index()->columns().size(), 1u);
  EXPECT_EQ(open({columns_[0]}), one);
  const auto both = open({columns_[1]});
  EXPECT_NE(both, one);
  EXPECT_EQ(both->index()->columns().size(), 2u) << "what is there stays";
  EXPECT_EQ(open({columns_[0]}), both);
  EXPECT_EQ(open(columns_), both);
  EXPECT_LT(one->memory_bytes(), both->memory_bytes());
  EXPECT_EQ(catalog.used_bytes(), both->memory_bytes());
  catalog.Forget(*file.second);
  EXPECT_EQ(catalog.used_bytes(), 0u);
  EXPECT_NE(open(columns_), both);
}

// Sidecars of copied SSTs, with and without copies of the sidecars.

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
  size_t NumWithoutIndex(rocksdb::DB& db) {
    // The process knows the indexes of the same SSTs in the other database.
    for (const auto& [path, properties] : FilesOf(db)) {
      rocksdb_plugin::SkipIndexCatalog::Default().Forget(*properties);
    }
    ScanExplanation explanation;
    Count(db, "n = 7", &explanation);
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

}  // namespace
}  // namespace blocksieve
