#include <gtest/gtest.h>

#include <filesystem>

#include "blocksieve/rocksdb/filter_policy.h"
#include "integration/cli/rocksdb/rocksdb_engine.h"
#include "tests/support/key_sets.h"
#include "tests/support/test_db.h"

namespace blocksieve::cli {
namespace {

// The only file of a database, opened and then removed, as a compaction of another process does.
std::unique_ptr<TableFile> OpenThenRemove(testing::FilterShape shape) {
  testing::TestDb db(testing::MakeConfig(shape, NewFilterPolicy({.target_fpr = 0.01})));
  db.Fill(testing::PresentKeys(testing::KeyShape::kCounter, 5000));
  for (const auto& entry : std::filesystem::directory_iterator(db.path())) {
    if (entry.path().extension() != ".sst") continue;
    FilePlace place;
    place.path = entry.path();
    return OpenRocksDbFile(place);
  }
  return nullptr;
}

TEST(RocksDbFile, RemovedByAnotherProcess) {
  const auto count = [](uint64_t* keys) {
    return [keys](std::string_view, bool passes) { *keys += passes ? 1 : 0; };
  };
  uint64_t passed = 0;
  // One filter is in memory, and the open file is still there.
  EXPECT_EQ(OpenThenRemove(testing::FilterShape::kFull)->ForEachKey(count(&passed)), "");
  EXPECT_EQ(passed, 5000);
  // To ask partitions, RocksDB opens the file by its name.
  EXPECT_NE(OpenThenRemove(testing::FilterShape::kPartitioned)->ForEachKey(count(&passed)), "");
  EXPECT_EQ(passed, 5000);
}

}  // namespace
}  // namespace blocksieve::cli
