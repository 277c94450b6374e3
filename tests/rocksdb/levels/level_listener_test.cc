// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/listener/listener.h"

#include "integration/rocksdb/levels/column_family_levels.h"
#include "tests/support/logs.h"
#include "tests/support/test_db.h"

// The levels that a listener reports for real databases.

namespace blocksieve::rocksdb_plugin {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

class LevelListenerTest : public ::testing::Test {
 protected:
  static DbConfig Config() {
    DbConfig config = MakeConfig(FilterShape::kFull, NewPolicy({.bits_per_key = 10}));
    config.options.listeners = {NewListener()};
    return config;
  }

  // Writes keys of the whole range into one file of level 0. The flush reads the sizes first.
  void Flush(uint64_t num_keys) {
    for (uint64_t i = 0; i < num_keys; ++i) {
      db_.Put(std::to_string(next_++ * 0x9e3779b97f4a7c15), std::string(100, 'v'));
    }
    db_.Flush();
  }

  // Creates a column family with a file.
  rocksdb::ColumnFamilyHandle* Create(const std::string& name, int num_levels = 7) {
    rocksdb::Options options = Config().ToOptions();
    options.num_levels = num_levels;
    rocksdb::ColumnFamilyHandle* family = nullptr;
    MustBeOk(db_->CreateColumnFamily(options, name, &family));
    MustBeOk(db_->Put({}, family, "key", "value"));
    MustBeOk(db_->Flush({}, family));
    return family;
  }
  void Drop(rocksdb::ColumnFamilyHandle* family) {
    MustBeOk(db_->DropColumnFamily(family));
    MustBeOk(db_->DestroyColumnFamilyHandle(family));
  }

  const rocksdb::Logger* Database() { return db_->GetDBOptions().info_log.get(); }
  std::optional<rocksdb_plugin::Levels> Levels(const std::string& column_family = "default") {
    return KnownLevels({Database(), column_family});
  }

  TestDb db_{Config()};
  uint64_t next_ = 0;
};

// RocksDB then reports no number of entries for any file.
TEST_F(LevelListenerTest, LevelsAreEstimatedFromBytesWithoutEntries) {
  Flush(40'000);
  db_.CompactInto(2);
  Flush(10'000);
  db_.CompactInto(1);
  DbConfig blind = Config();
  blind.options.skip_stats_update_on_db_open = true;
  for (const DbConfig& config : {Config(), blind}) {
    db_.Reopen(config);
    Flush(10);
    const auto levels = Levels();
    ASSERT_TRUE(levels.has_value());
    ASSERT_GE(levels->size(), 3u);
    EXPECT_GT((*levels)[1].keys_per_run, 0);
    EXPECT_NEAR((*levels)[2].keys_per_run / (*levels)[1].keys_per_run, 4, 0.5);
  }
}

// Two levels span the same keys, but lookups reach only the upper one, which has all keys read.
TEST_F(LevelListenerTest, LookupSharesFollowReads) {
  constexpr uint64_t kKeys = 20'000;
  Flush(4 * kKeys);
  db_.CompactInto(2);
  const uint64_t first = next_;
  Flush(kKeys);
  db_.CompactInto(1);
  Flush(10);
  auto levels = Levels();
  ASSERT_TRUE(levels.has_value());
  EXPECT_GT((*levels)[1].lookup_share, 0.85);  // it has no keys that begin with the digit 0
  EXPECT_NEAR((*levels)[2].lookup_share, 1, 0.02);
  std::string value;
  // RocksDB samples one read in 1,024.
  for (uint64_t i = 0; i < 400'000; ++i) {
    const uint64_t key = (first + i % kKeys) * 0x9e3779b97f4a7c15;
    MustBeOk(db_->Get({}, std::to_string(key), &value));
  }
  // Repeats as needed: the listener reads the sizes at most a fiftieth of the time.
  for (int i = 0; i < 1000 && (*Levels())[2].lookup_share > 0.5; ++i) Flush(1);
  levels = Levels();
  EXPECT_EQ((*levels)[1].lookup_share, 1);
  EXPECT_EQ((*levels)[2].lookup_share, 0);
}

TEST_F(LevelListenerTest, DroppedColumnFamiliesAndClosedDatabasesAreForgotten) {
  rocksdb::ColumnFamilyHandle* const dropped = Create("dropped");
  EXPECT_TRUE(Levels("dropped").has_value());
  Drop(dropped);
  // Repeats as needed: the listener reads the sizes at most a fiftieth of the time.
  for (int i = 0; i < 1000 && Levels("dropped").has_value(); ++i) Flush(1);
  EXPECT_FALSE(Levels("dropped").has_value());
  EXPECT_TRUE(Levels().has_value());
  const rocksdb::Logger* const closed = Database();
  db_.Close();
  EXPECT_FALSE(KnownLevels({closed, "default"}).has_value());
}

// The program's Logger outlives the databases that share it, as in stores with one per window.
TEST_F(LevelListenerTest, ClosedDatabasesOfASharedLogAreForgotten) {
  DbConfig config = Config();
  config.options.info_log = std::make_shared<MemoryLogger>();
  db_.Reopen(config);
  Flush(10);
  const rocksdb::Logger* const log = Database();
  EXPECT_TRUE(Levels().has_value());
  db_.Close();
  EXPECT_FALSE(KnownLevels({log, "default"}).has_value());
  config.options.env = rocksdb::Env::Default();
  const TempDir other;
  const auto db = blocksieve::testing::OpenDb(config.ToOptions(), other / "db");
  EXPECT_FALSE(KnownLevels({log, "default"}).has_value()) << "those of another database";
}

// Otherwise its files would be planned by the levels of a column family that is gone.
TEST_F(LevelListenerTest, AColumnFamilyOfADroppedOnesNameHasItsOwnLevels) {
  for (const int num_levels : {7, 2}) {
    rocksdb::ColumnFamilyHandle* const family = Create("reborn", num_levels);
    ASSERT_TRUE(Levels("reborn").has_value());
    EXPECT_EQ(Levels("reborn")->size(), static_cast<size_t>(num_levels));
    Drop(family);
  }
}

// A program that drops it while the compaction begins had its heap overwritten.
TEST(ReadLevelsTest, ACompactionOfADroppedColumnFamilyChangesNothingInItsSuccessor) {
  rocksdb::ColumnFamilyMetaData successor("default", 0, std::vector<rocksdb::LevelMetaData>());
  for (const int level : {0, 1}) {
    successor.levels.emplace_back(level, 0, std::vector<rocksdb::SstFileMetaData>());
  }
  rocksdb::CompactionJobInfo compaction;
  compaction.cf_name = successor.name;
  compaction.input_file_infos.resize(1);
  compaction.input_file_infos[0].file_number = 12;
  for (const int output_level : {1, 6}) {
    compaction.output_level = output_level;
    const Levels levels = ReadLevels(successor, &compaction);
    ASSERT_EQ(levels.size(), 2u);
    EXPECT_EQ(levels[1].num_runs, 0) << output_level;
  }
}

}  // namespace
}  // namespace blocksieve::rocksdb_plugin
