// SPDX-License-Identifier: Apache-2.0
#include "blocksieve/rocksdb/enable.h"
#include "integration/rocksdb/compat/version_differences.h"
#include "tests/rocksdb/sidecar/sidecar_test_db.h"
#include "tests/support/faulty_disks.h"
#include "tests/support/logs.h"

// The disk becomes full, the process is killed, or the power fails while files with filters and
// indexes are written. The database opens again, also with stock RocksDB, has all acknowledged
// writes, and scans return the right rows.

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

class FailingDisks : public SidecarFixture {
 protected:
  FailingDisks() { config_ = Config({NewListener()}, 0, log_); }

  struct Written {
    TestDb::Model acknowledged;
    std::set<std::string> unknown;  // keys whose failed writes may have happened nevertheless
    uint64_t errors = 0;
    rocksdb::Status first_error;  // except for flushes and compactions
  };

  /// Writes some keys twice, with two flushes and a compaction, until `max_errors` errors.
  Written Write(const std::string& path, rocksdb::Env* env, uint64_t num_keys, size_t max_errors) {
    rocksdb::Options options = config_.ToOptions();
    options.env = env;
    Written written;
    std::unique_ptr<rocksdb::DB> db;
    const rocksdb::Status open = rocksdb_plugin::OpenDb(options, path, &db);
    if (!open.ok()) {
      written.first_error = open;
      ++written.errors;
      return written;
    }
    for (uint64_t i = 0; i < num_keys * 6 / 5 && written.unknown.size() < max_errors; ++i) {
      const std::string key = Key(i * 7919 % num_keys);
      const rocksdb::Status status = db->Put({}, key, Value(i / 10));
      if (status.ok()) {
        written.acknowledged[key] = Value(i / 10);
      } else {
        // The first has the reason; later ones may only mention it.
        if (written.errors++ == 0) written.first_error = status;
        written.unknown.insert(key);
      }
      if ((i + 1) % (num_keys * 3 / 5) == 0) written.errors += !db->Flush({}).ok();
    }
    written.errors += !db->CompactRange({}, nullptr, nullptr).ok();
    uint64_t in_background = 0;
    db->GetIntProperty(rocksdb::DB::Properties::kBackgroundErrors, &in_background);
    written.errors += in_background;
    return written;
  }

  /// Opens the database on a working disk.
  void ExpectAllThere(const DbConfig& config, const std::string& path, Written* written) {
    rocksdb::Options options = config.ToOptions();
    options.env = UnsyncedEnv();
    std::unique_ptr<rocksdb::DB> db;
    const rocksdb::Status status = rocksdb_plugin::OpenDb(options, path, &db);
    ASSERT_TRUE(status.ok()) << status.ToString();
    for (const std::string& key : written->unknown) {
      std::string value;
      if (db->Get({}, key, &value).ok()) written->acknowledged[key] = value;
    }
    const TestDb::Model& model = written->acknowledged;
    EXPECT_EQ(CheckReads(db.get(), model, {"k", "l"}), "");
    const auto is_seven = [](const auto& row) { return row.second == Value(7); };
    EXPECT_EQ(Count(*db, "n = 7"),
              static_cast<size_t>(std::count_if(model.begin(), model.end(), is_seven)));
    for (const char* const where : {"n IN (1, 3)", "t = 'absent'"}) Count(*db, where);
    // Writes continue.
    MustBeOk(db->Put({}, "z", Value(3)));
    written->acknowledged["z"] = Value(3);
    MustBeOk(db->Flush({}));
    Count(*db, "n = 3");
    MustBeOk(db->CompactRange({}, nullptr, nullptr));
    EXPECT_EQ(CheckReads(db.get(), model, {"k", "l"}), "");
    EXPECT_TRUE(db->VerifyChecksum().ok());
  }

  const std::shared_ptr<MemoryLogger> log_ = std::make_shared<MemoryLogger>();
};

enum class End { kKilled, kPowerFails };

class SidecarCrashTest : public FailingDisks, public ::testing::WithParamInterface<End> {};

INSTANTIATE_TEST_SUITE_P(Ends, SidecarCrashTest, ::testing::Values(End::kKilled, End::kPowerFails),
                         [](const auto& info) {
                           return info.param == End::kKilled ? "Killed" : "PowerFails";
                         });

TEST_P(SidecarCrashTest, AtEveryStepNothingIsLostAndNothingIsWrong) {
  DbConfig stock = Config({});
  stock.options.table_properties_collector_factories.clear();
  bool lived = false;
  uint64_t num_deaths = 0;
  for (int64_t changes = 0; !lived && !HasFailure(); ++changes) {
    SCOPED_TRACE("dead after " + std::to_string(changes) + " changes");
    const TempDir dir;
    const std::string path = dir / "db";
    const auto disk = std::make_shared<DyingDisk>(changes);
    ImpatientEnv env(disk);
    Written written = Write(path, &env, 50, 1);
    lived = !disk->is_dead();
    num_deaths += disk->is_dead();
    if (GetParam() == End::kPowerFails) disk->LosePower(static_cast<uint64_t>(changes));
    if (!std::filesystem::exists(path + "/CURRENT")) continue;  // it was never created
    if (changes % 2 == 1) ExpectAllThere(stock, path, &written);
    if (!HasFailure()) ExpectAllThere(config_, path, &written);
  }
  EXPECT_GT(num_deaths, 100u);
  EXPECT_NE(log_->text().find("cannot be written"), std::string::npos) << "of sidecars, too";
}

}  // namespace
}  // namespace blocksieve
