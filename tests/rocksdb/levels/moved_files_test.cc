#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/support/db_checks.h"
#include "tests/support/key_sets.h"
#include "tests/support/test_db.h"

// Files that reach a database by another way than a flush: ingestion, checkpoint, read-only and
// secondary instances. By ours and by stock RocksDB.

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

  const std::vector<std::string> absent_;
};

TEST_P(MovedFiles, SecondaryCatchesUp) {
  TestDb db(Ours());
  Fill(&db);
  Check(Ours(), db.model(), true, [&](rocksdb::Options options) {
    options.max_open_files = -1;
    auto secondary = OpenSecondary(options, db.path(), db.dir() / "secondary");
    db.Fill(PresentKeys(KeyShape::kUrl, kKeys), "later");
    db.Compact();
    MustBeOk(secondary->TryCatchUpWithPrimary(), "catch up");
    return secondary;
  });
}

TEST_P(MovedFiles, Checkpoint) {
  TestDb db(Ours());
  Fill(&db);
  const std::string path = db.dir() / "checkpoint";
  MustBeOk(NewCheckpoint(&db.db())->CreateCheckpoint(path), "checkpoint");
  const TestDb::Model model = db.model();
  db.Delete(model.begin()->first);
  db.Flush();
  for (const bool stock : {false, true}) {
    Check(stock ? Stocks() : Ours(), model, !stock,
          [&](const rocksdb::Options& options) { return OpenReadOnly(options, path); });
  }
}

TEST_P(MovedFiles, IngestedByUsAndByStock) {
  for (const bool written_by_stock : {false, true}) {
    for (const bool read_by_stock : {false, true}) {
      TestDb db(read_by_stock ? Stocks() : Ours());
      db.Put("before", "all");
      TestDb::Model model;
      for (const std::string& key : PresentKeys(KeyShape::kUrl, kKeys)) model[key] = "sst";
      const std::string file = db.dir() / "ingested.sst";
      WriteSst((written_by_stock ? Stocks() : Ours()).ToOptions(), file, model);
      model.insert(db.model().begin(), db.model().end());
      MustBeOk(db->IngestExternalFile({file}, {}), "ingest");
      EXPECT_EQ(db.FilterPolicyNames().count("blocksieve"), written_by_stock ? 0u : 1u);
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

INSTANTIATE_TEST_SUITE_P(Shapes, MovedFiles, kBothShapes, ParamNames());

}  // namespace
}  // namespace blocksieve
