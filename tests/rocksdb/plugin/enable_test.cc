#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rocksdb/table.h>

#include <memory>
#include <string>
#include <vector>

#include "blocksieve/rocksdb.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test_db.h"

// The calls that a program makes on its options.

namespace blocksieve::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Enable, TheLastCallCounts) {
  rocksdb::Options once;
  once.compaction_style = rocksdb::kCompactionStyleUniversal;
  rocksdb::BlockBasedTableOptions table;
  table.block_size = 12345;
  once.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  rocksdb::Options twice = once;
  MustBeOk(EnableRangeFilter(&twice, {.policy = {.bits_per_key = 12}}), "ranges");
  MustBeOk(EnableSkipIndex(&twice, {.columns = {"old=value"}, .target_fpr = 0.1}), "index");
  EXPECT_THAT(TextOf(twice), HasSubstr("blocksieve.range"));
  for (rocksdb::Options* const options : {&once, &twice, &twice}) {
    MustBeOk(EnableFilter(options, {.wasted_reads = 0.1}), "filter");
    MustBeOk(EnableSkipIndex(options, {.columns = {"new=field:1"}}), "index");
  }
  EXPECT_EQ(TextOf(once), TextOf(twice));
  EXPECT_THAT(TextOf(twice), AllOf(HasSubstr("block_size=12345"), HasSubstr("wasted_reads=0.1"),
                                   HasSubstr("listeners: 1, collectors: 1")));
}

class EnabledDb : public ::testing::Test {
 protected:
  rocksdb::Status Scan(const std::string& query) {
    keys_.clear();
    std::unique_ptr<SkipScan> scan;
    rocksdb::Status status = SkipScan::Create(db_.get(), nullptr, query, {}, &scan);
    if (!status.ok()) return status;
    for (; scan->Valid(); scan->Next()) keys_.push_back(scan->key().ToString());
    return scan->status();
  }

  const TempDir dir_;
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<std::string> keys_;
};

TEST_F(EnabledDb, HasFiltersAndIndexes) {
  rocksdb::Options options;
  options.create_if_missing = true;
  MustBeOk(EnableRangeFilter({&options, &options}, {.policy = {.target_fpr = 0.01}}), "filter");
  MustBeOk(EnableSkipIndex(&options, {.columns = {"package=field:1", "size=uint:2"}}), "index");
  db_ = OpenDb(options, dir_ / "db");
  for (const char* const row : {"bash\t1234376", "bash\t10", "dash\t2000"}) {
    MustBeOk(db_->Put({}, "/bin/" + std::to_string(row[5]) + row, row), "put");
  }
  MustBeOk(db_->Flush({}), "flush");
  MustBeOk(Scan("package = 'bash' AND size > 1000"), "scan");
  EXPECT_EQ(keys_.size(), 1u);
  MustBeOk(Scan("package = 'bash' ORDER BY size LIMIT 1"), "scan in order");
  EXPECT_THAT(keys_, ::testing::ElementsAre(::testing::EndsWith("bash\t10")));
}

TEST_F(EnabledDb, ATextTakesColumnsFromTheOptions) {
  rocksdb::Options options;
  options.create_if_missing = true;
  db_ = OpenDb(options, dir_ / "db");
  EXPECT_THAT(Scan("a = 1").ToString(), HasSubstr("there are 0; allowed is 1"));
}

}  // namespace
}  // namespace blocksieve::testing
