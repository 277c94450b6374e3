#include "integration/rocksdb/compat/open_db.h"
#include "tests/rocksdb/sidecar/sidecar_test_db.h"
#include "tests/support/faulty_disks.h"
#include "tests/support/logs.h"

// The process is killed, or the power fails, at every change to the disk that flushes and
// compactions make: the database opens, also with stock RocksDB, with what was acknowledged, and
// scans return what they should.

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

enum class End { kKilled, kPowerFails };

class SidecarCrash : public SidecarFixture, public ::testing::WithParamInterface<End> {
 protected:
  SidecarCrash() {
    config_ = Config({NewListener()}, 0, log_);
    config_.options.create_if_missing = true;
    config_.options.paranoid_checks = true;
  }

  struct Written {
    TestDb::Model acknowledged;
    std::string last_key;  // of a write that failed, and may have happened nevertheless
  };

  /// Two flushes and a compaction.
  Written WriteUntilDead(const std::string& path, rocksdb::Env* env) {
    rocksdb::Options options = config_.ToOptions();
    options.env = env;
    Written written;
    std::unique_ptr<rocksdb::DB> db;
    if (!rocksdb_plugin::OpenDb(options, path, &db).ok()) return written;
    for (uint64_t i = 0; i < 60; ++i) {
      const std::string key = Key(i * 7 % 50);
      if (!db->Put({}, key, Value(i % 10)).ok()) {
        written.last_key = key;
        break;
      }
      written.acknowledged[key] = Value(i % 10);
      if (i % 30 == 29 && !db->Flush({}).ok()) break;
    }
    db->CompactRange({}, nullptr, nullptr).PermitUncheckedError();
    return written;
  }

  void ExpectAllThere(const DbConfig& config, const std::string& path, const Written& written) {
    rocksdb::Options options = config.ToOptions();
    options.env = &healthy_;
    std::unique_ptr<rocksdb::DB> db;
    const rocksdb::Status status = rocksdb_plugin::OpenDb(options, path, &db);
    ASSERT_TRUE(status.ok()) << status.ToString();
    for (const auto& [key, value] : written.acknowledged) {
      std::string found;
      ASSERT_TRUE(db->Get({}, key, &found).ok()) << key;
      EXPECT_TRUE(found == value || key == written.last_key) << key;
    }
    for (const char* const where : {"n = 7", "n IN (1, 3)", "t = 'absent'"}) Count(*db, where);
    // And it goes on.
    MustBeOk(db->Put({}, "z", Value(3)), "put");
    MustBeOk(db->Flush({}), "flush");
    Count(*db, "n = 3");
  }

  const std::shared_ptr<MemoryLogger> log_ = std::make_shared<MemoryLogger>();
  ImpatientEnv healthy_{std::make_shared<UnsyncedFiles>()};
};

INSTANTIATE_TEST_SUITE_P(Ends, SidecarCrash, ::testing::Values(End::kKilled, End::kPowerFails),
                         [](const auto& info) {
                           return info.param == End::kKilled ? "Killed" : "PowerFails";
                         });

TEST_P(SidecarCrash, AtEveryStepNothingIsLostAndNothingIsWrong) {
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
    const Written written = WriteUntilDead(path, &env);
    lived = !disk->is_dead();
    num_deaths += disk->is_dead();
    if (GetParam() == End::kPowerFails) disk->LosePower(static_cast<uint64_t>(changes));
    if (!std::filesystem::exists(path + "/CURRENT")) continue;  // it was never there
    ExpectAllThere(changes % 2 == 0 ? config_ : stock, path, written);
    if (!HasFailure()) ExpectAllThere(config_, path, written);
  }
  EXPECT_GT(num_deaths, 100u);
  EXPECT_NE(log_->text().find("cannot be written"), std::string::npos) << "of sidecars, too";
}

}  // namespace
}  // namespace blocksieve
