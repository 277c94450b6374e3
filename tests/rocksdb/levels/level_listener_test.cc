#include "integration/rocksdb/listener/listener.h"

#include <gtest/gtest.h>

#include <string>

#include "blocksieve/rocksdb/filter_policy.h"
#include "blocksieve/rocksdb/listener.h"
#include "integration/rocksdb/levels/known_shapes.h"
#include "integration/rocksdb/levels/run_shares.h"
#include "tests/support/test_db.h"

// What a listener tells of real databases.

namespace blocksieve::rocksdb_plugin {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

class LevelListenerTest : public ::testing::Test {
 protected:
  static DbConfig Config() {
    DbConfig config = MakeConfig(FilterShape::kFull, NewFilterPolicy({.bits_per_key = 10}));
    config.options.listeners = {NewListener()};
    return config;
  }

  // Keys from all over the range, in one file of level 0. It begins with reading the sizes.
  void Flush(uint64_t num_keys) {
    for (uint64_t i = 0; i < num_keys; ++i) {
      db_.Put(std::to_string(next_++ * 0x9e3779b97f4a7c15), std::string(100, 'v'));
    }
    db_.Flush();
  }

  void CompactInto(int level) {
    rocksdb::ColumnFamilyMetaData metadata;
    db_->GetColumnFamilyMetaData(&metadata);
    std::vector<std::string> files;
    for (const auto& file : metadata.levels[0].files) files.push_back(file.name);
    MustBeOk(db_->CompactFiles({}, files, level), "compact");
  }

  const rocksdb::Logger* Database() { return db_->GetDBOptions().info_log.get(); }
  std::optional<ColumnFamilyShape> Shape(const std::string& column_family = "default") {
    return KnownShapes::Instance().Get({Database(), column_family});
  }

  TestDb db_{Config()};
  uint64_t next_ = 0;
};

// RocksDB does not say then of any file how many entries it has.
TEST_F(LevelListenerTest, LevelsAreKnownByTheirBytesIfNotByTheirEntries) {
  Flush(40'000);
  CompactInto(2);
  Flush(10'000);
  CompactInto(1);
  DbConfig blind = Config();
  blind.options.skip_stats_update_on_db_open = true;
  for (const DbConfig& config : {Config(), blind}) {
    db_.Reopen(config);
    Flush(10);
    const auto shape = Shape();
    ASSERT_TRUE(shape.has_value());
    ASSERT_GE(shape->level_keys.size(), 3u);
    EXPECT_GT(shape->level_keys[1], 0);
    EXPECT_NEAR(shape->level_keys[2] / shape->level_keys[1], 4, 0.5);
  }
}

// Of levels that span the same keys, only the upper one is asked: it has all keys that are read.
TEST_F(LevelListenerTest, LevelsCountByWhatIsRead) {
  constexpr uint64_t kKeys = 20'000;
  Flush(4 * kKeys);
  CompactInto(2);
  const uint64_t first = next_;
  Flush(kKeys);
  CompactInto(1);
  Flush(10);
  auto shape = Shape();
  ASSERT_TRUE(shape.has_value());
  EXPECT_GT(shape->ShareOf(1), 0.85);  // of keys that begin with the digit 0 it has none
  EXPECT_NEAR(shape->ShareOf(2), 1, 0.02);
  std::string value;
  // One in 1,024 is a sample.
  for (uint64_t i = 0; i < 700'000; ++i) {
    const uint64_t key = (first + i % kKeys) * 0x9e3779b97f4a7c15;
    MustBeOk(db_->Get({}, std::to_string(key), &value), "get");
  }
  // As often as it takes: sizes are read a fiftieth of the time.
  for (int i = 0; i < 1000 && Shape()->ShareOf(2) > 0.5; ++i) Flush(1);
  shape = Shape();
  EXPECT_EQ(shape->ShareOf(1), 1);
  EXPECT_EQ(shape->ShareOf(2), kLeastShareOfLookups);
}

TEST_F(LevelListenerTest, DroppedColumnFamiliesAndClosedDatabasesAreForgotten) {
  rocksdb::ColumnFamilyHandle* dropped = nullptr;
  MustBeOk(db_->CreateColumnFamily(Config().ToOptions(), "dropped", &dropped), "create");
  MustBeOk(db_->Put({}, dropped, "key", "value"), "put");
  MustBeOk(db_->Flush({}, dropped), "flush");
  EXPECT_TRUE(Shape("dropped").has_value());
  MustBeOk(db_->DropColumnFamily(dropped), "drop");
  MustBeOk(db_->DestroyColumnFamilyHandle(dropped), "destroy");
  // As often as it takes: sizes are read a fiftieth of the time.
  for (int i = 0; i < 1000 && Shape("dropped").has_value(); ++i) Flush(1);
  EXPECT_FALSE(Shape("dropped").has_value());
  EXPECT_TRUE(Shape().has_value());
  const rocksdb::Logger* const closed = Database();
  db_.Close();
  EXPECT_FALSE(KnownShapes::Instance().Get({closed, "default"}).has_value());
}

}  // namespace
}  // namespace blocksieve::rocksdb_plugin
