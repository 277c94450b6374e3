#include <gtest/gtest.h>
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/utilities/backup_engine.h>
#include <rocksdb/utilities/checkpoint.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/support/db_checks.h"
#include "tests/support/key_sets.h"
#include "tests/support/test_db.h"

// Files that reach a database, or a reader, by another way than a flush: ingestion, backup,
// checkpoint, read-only and secondary instances, SstFileReader. By ours and by stock RocksDB.

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

class MovedFiles : public ::testing::TestWithParam<FilterShape> {
 protected:
  static constexpr uint64_t kKeys = 3000;

  MovedFiles() : absent_(AbsentKeys(KeyShape::kUrl, kKeys)) {}

  static DbConfig Ours() { return MakeConfig(GetParam(), PolicyFromString("blocksieve:0.01")); }
  static DbConfig Stocks() { return MakeConfig(GetParam(), PolicyFromString("bloomfilter:10")); }

  static void Fill(TestDb* db) { db->Fill(PresentKeys(KeyShape::kUrl, kKeys)); }

  static void WriteSst(const DbConfig& config, const std::string& path) {
    rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), config.ToOptions());
    MustBeOk(writer.Open(path), "sst");
    for (const std::string& key : PresentKeys(KeyShape::kUrl, kKeys)) {
      MustBeOk(writer.Put(key, "sst"), "sst");
    }
    MustBeOk(writer.Finish(), "sst");
  }

  // Opens another database and checks it against `model`. `opened` counts in its statistics.
  template <class Open>
  void Check(const DbConfig& config, const TestDb::Model& model, bool filters_are_used, Open open) {
    rocksdb::Options options = config.ToOptions();
    options.statistics = rocksdb::CreateDBStatistics();
    const std::unique_ptr<rocksdb::DB> db = open(options);
    EXPECT_EQ(CheckReads(db.get(), model, absent_), "");
    EXPECT_TRUE(db->VerifyChecksum().ok());
    const FilterUse use = FilterUseSoFar(*options.statistics);
    // Gets and MultiGets of absent keys, two probes each.
    if (filters_are_used) {
      EXPECT_GT(use.rejected, 2 * absent_.size() * 97 / 100);
    } else {
      EXPECT_EQ(use.rejected, 0u);
    }
  }

  void CheckAt(const std::string& path, const TestDb::Model& model) {
    for (const bool stock : {false, true}) {
      Check(stock ? Stocks() : Ours(), model, !stock,
            [&](const rocksdb::Options& options) { return OpenReadOnly(options, path); });
    }
  }

  const std::vector<std::string> absent_;
};

TEST_P(MovedFiles, ReadOnly) {
  TestDb db(Ours());
  Fill(&db);
  db.Close();
  CheckAt(db.path(), db.model());
}

TEST_P(MovedFiles, Secondary) {
  TestDb db(Ours());
  Fill(&db);
  Check(Ours(), db.model(), true, [&](rocksdb::Options options) {
    options.max_open_files = -1;
    return OpenSecondary(options, db.path(), db.dir() / "secondary");
  });
}

TEST_P(MovedFiles, SecondaryCatchesUp) {
  TestDb db(Ours());
  Fill(&db);
  rocksdb::Options options = Ours().ToOptions();
  options.max_open_files = -1;
  const auto secondary = OpenSecondary(options, db.path(), db.dir() / "secondary");
  db.Fill(PresentKeys(KeyShape::kUrl, 2 * kKeys), "later");
  db.Compact();
  MustBeOk(secondary->TryCatchUpWithPrimary(), "catch up");
  EXPECT_EQ(CheckReads(secondary.get(), db.model(), absent_), "");
  EXPECT_GT(FilterUseSoFar(*options.statistics).rejected, 0u);
}

TEST_P(MovedFiles, Checkpoint) {
  TestDb db(Ours());
  Fill(&db);
  rocksdb::Checkpoint* made = nullptr;
  MustBeOk(rocksdb::Checkpoint::Create(&db.db(), &made), "checkpoint");
  const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
  const std::string path = db.dir() / "checkpoint";
  MustBeOk(checkpoint->CreateCheckpoint(path), "checkpoint");
  const TestDb::Model model = db.model();
  db.Delete(model.begin()->first);
  db.Flush();
  CheckAt(path, model);
}

TEST_P(MovedFiles, BackupAndRestore) {
  TestDb db(Ours());
  Fill(&db);
  rocksdb::BackupEngine* made = nullptr;
  MustBeOk(rocksdb::BackupEngine::Open(rocksdb::Env::Default(),
                                       rocksdb::BackupEngineOptions(db.dir() / "backup"), &made),
           "backup");
  const std::unique_ptr<rocksdb::BackupEngine> backup(made);
  MustBeOk(backup->CreateNewBackup(&db.db()), "backup");
  MustBeOk(backup->VerifyBackup(1, true), "verify backup");
  const TestDb::Model model = db.model();
  db.DeleteRange(model.begin()->first, model.rbegin()->first);
  db.Flush();
  const std::string path = db.dir() / "restored";
  MustBeOk(backup->RestoreDBFromLatestBackup(path, path), "restore");
  CheckAt(path, model);
}

TEST_P(MovedFiles, IngestedByUsAndByStock) {
  for (const bool written_by_stock : {false, true}) {
    for (const bool read_by_stock : {false, true}) {
      TestDb db(read_by_stock ? Stocks() : Ours());
      db.Put("before", "all");
      TestDb::Model model = db.model();
      const std::string file = db.dir() / "ingested.sst";
      WriteSst(written_by_stock ? Stocks() : Ours(), file);
      for (const std::string& key : PresentKeys(KeyShape::kUrl, kKeys)) model[key] = "sst";
      MustBeOk(db->IngestExternalFile({file}, {}), "ingest");
      EXPECT_EQ(CheckReads(&db.db(), model, absent_), "");
      const bool used = !read_by_stock || written_by_stock;
      if (used) {
        EXPECT_GT(db.Use().rejected, absent_.size());
      } else {
        EXPECT_EQ(db.Use().rejected, 0u);
      }
      db.Compact();
      EXPECT_EQ(CheckReads(&db.db(), model, absent_), "");
    }
  }
}

TEST_P(MovedFiles, SstFileReader) {
  TempDir dir;
  const std::string path = dir / "a.sst";
  WriteSst(Ours(), path);
  for (const DbConfig& config : {Ours(), Stocks()}) {
    rocksdb::SstFileReader reader(config.ToOptions());
    MustBeOk(reader.Open(path), "sst");
    EXPECT_TRUE(reader.VerifyChecksum().ok());
    EXPECT_EQ(reader.GetTableProperties()->filter_policy_name, "blocksieve");
    EXPECT_EQ(reader.GetTableProperties()->num_filter_entries, kKeys);
    const std::unique_ptr<rocksdb::Iterator> it(reader.NewIterator({}));
    uint64_t found = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next()) ++found;
    EXPECT_EQ(found, kKeys);
    for (const std::string& key : PresentKeys(KeyShape::kUrl, kKeys)) {
      it->Seek(key);
      ASSERT_TRUE(it->Valid() && it->key() == key);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, MovedFiles, kBothShapes, ParamNames());

}  // namespace
}  // namespace blocksieve
