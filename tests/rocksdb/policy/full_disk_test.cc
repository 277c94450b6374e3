#include <gtest/gtest.h>
#include <rocksdb/env.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>

#include "blocksieve/rocksdb/filter_policy.h"
#include "integration/rocksdb/compat/open_db.h"
#include "tests/rocksdb/scan/skip_test_db.h"
#include "tests/support/db_checks.h"
#include "tests/support/faulty_disks.h"

// The disk becomes full while files with filters and indexes are written: RocksDB reports it, and
// when there is room again the database opens with everything that was acknowledged.

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

class FullDiskTest : public SkipFixture,
                     public ::testing::WithParamInterface<std::tuple<FilterShape, bool>> {
 protected:
  static constexpr uint64_t kKeys = 3000;

  FullDiskTest() {
    DbConfig filters = MakeConfig(std::get<0>(GetParam()), PolicyFromString("blocksieve:0.01"));
    config_.table = filters.table;
    rocksdb::Options& options = config_.options;
    options.write_buffer_size = 64 << 10;
    options.disable_auto_compactions = false;
    options.level0_file_num_compaction_trigger = 2;
    options.target_file_size_base = 32 << 10;
    options.create_if_missing = true;
    options.paranoid_checks = true;
  }

  static bool tables_only() { return std::get<1>(GetParam()); }

  /// Writes until there is an error, and a little longer. Returns what was acknowledged, and adds
  /// to `unknown` what was not.
  TestDb::Model WriteUntilFull(const std::string& path, std::set<std::string>* unknown,
                               uint64_t* errors) {
    TestDb::Model model;
    std::unique_ptr<rocksdb::DB> db;
    const rocksdb::Status open = rocksdb_plugin::OpenDb(config_.ToOptions(), path, &db);
    if (!open.ok()) {
      EXPECT_TRUE(open.IsNoSpace()) << open.ToString();
      ++*errors;
      return model;
    }
    uint64_t failed = 0;
    for (uint64_t i = 0; i < kKeys && failed < 10; ++i) {
      const std::string key = Key(i * 7919 % kKeys);
      const rocksdb::Status status = db->Put({}, key, Value(i / 10));
      if (status.ok()) {
        model[key] = Value(i / 10);
      } else {
        // The first says why; after it, some only say that there was one.
        EXPECT_TRUE(failed > 0 || status.IsNoSpace()) << status.ToString();
        unknown->insert(key);
        ++failed;
      }
      if (i % 500 == 499) failed += !db->Flush({}).ok();
    }
    uint64_t in_background = 0;
    db->GetIntProperty(rocksdb::DB::Properties::kBackgroundErrors, &in_background);
    *errors += failed + in_background;
    return model;
  }
};

TEST_P(FullDiskTest, LosesNothingThatWasAcknowledged) {
  uint64_t runs_with_errors = 0;
  bool enough = false;
  for (uint64_t bytes = 0; !enough && !HasFailure(); bytes += 30'011) {
    SCOPED_TRACE(std::to_string(bytes) + " bytes");
    const TempDir dir;
    const std::string path = dir / "db";
    const auto disk = std::make_shared<FullDisk>(bytes, tables_only());
    ImpatientEnv env(disk);
    config_.options.env = &env;
    std::set<std::string> unknown;
    uint64_t errors = 0;
    TestDb::Model model = WriteUntilFull(path, &unknown, &errors);
    if (errors > 0) {
      EXPECT_GT(disk->failed_appends(), 0u);
    }
    runs_with_errors += errors > 0;
    enough = disk->failed_appends() == 0;

    disk->Clear();
    const std::unique_ptr<rocksdb::DB> db = OpenDb(config_.ToOptions(), path);
    // What failed may have been written all the same.
    for (const std::string& key : unknown) {
      std::string value;
      if (db->Get({}, key, &value).ok()) model[key] = value;
    }
    EXPECT_EQ(CheckReads(db.get(), model, {"k", "l"}), "");
    const auto is_seven = [](const auto& row) { return row.second == Value(7); };
    EXPECT_EQ(Count(*db, "n = 7"),
              static_cast<size_t>(std::count_if(model.begin(), model.end(), is_seven)));
    MustBeOk(db->Flush({}), "flush");
    MustBeOk(db->CompactRange({}, nullptr, nullptr), "compact");
    EXPECT_EQ(CheckReads(db.get(), model, {"k", "l"}), "");
    EXPECT_TRUE(db->VerifyChecksum().ok());
  }
  EXPECT_GT(runs_with_errors, 3u);
}

INSTANTIATE_TEST_SUITE_P(Disks, FullDiskTest, ::testing::Combine(kBothShapes, ::testing::Bool()),
                         [](const auto& info) {
                           return NameOf(std::get<0>(info.param)) +
                                  (std::get<1>(info.param) ? "RoomForTables" : "RoomForAll");
                         });

}  // namespace
}  // namespace blocksieve
