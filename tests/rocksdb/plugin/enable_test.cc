#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rocksdb/convenience.h>
#include <rocksdb/slice_transform.h>
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

/// All that is set in them, but for the addresses of objects.
std::string TextOf(const rocksdb::Options& options) {
  rocksdb::ConfigOptions config;
  config.delimiter = "\n";
  std::string db;
  std::string family;
  MustBeOk(rocksdb::GetStringFromDBOptions(config, options, &db), "DBOptions");
  MustBeOk(rocksdb::GetStringFromColumnFamilyOptions(config, options, &family), "family");
  return db + "\n" + family + "\n" + options.table_factory->ToString(config) +
         "\nlisteners: " + std::to_string(options.listeners.size()) +
         ", collectors: " + std::to_string(options.table_properties_collector_factories.size());
}

/// A call that is refused, names what is wrong, and changes nothing.
template <class Enable>
void ExpectRefused(rocksdb::Options options, const std::string& problem, Enable enable) {
  const std::string before = TextOf(options);
  const rocksdb::Status status = enable(&options);
  EXPECT_TRUE(status.IsInvalidArgument()) << problem;
  EXPECT_THAT(status.ToString(), HasSubstr(problem));
  EXPECT_EQ(TextOf(options), before);
}

TEST(Enable, RefusesFiltersThatCannotBe) {
  const auto refuse = [](const FilterPolicyOptions& filter, const std::string& problem,
                         const rocksdb::Options& options = {}) {
    ExpectRefused(options, problem, [&](rocksdb::Options* o) { return EnableFilter(o, filter); });
  };
  refuse({.target_fpr = 2}, "target_fpr is 2; allowed is 1e-07 to 0.5");
  refuse({.wasted_reads = 1, .bits_per_key = 10}, "exclude each other");
  refuse({.range_fpr = 0.1}, "range_fpr");
  rocksdb::Options plain;
  plain.table_factory.reset(rocksdb::NewPlainTableFactory());
  refuse({}, "table_factory is PlainTable; filters and skip indexes need block-based tables",
         plain);
  plain.table_factory = nullptr;
  EXPECT_THAT(EnableFilter(&plain).ToString(), HasSubstr("table_factory is null"));
  rocksdb::Options prefixes;
  prefixes.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(3));
  refuse({.ranges = true}, "has the prefix extractor rocksdb.FixedPrefix", prefixes);
  rocksdb::ColumnFamilyOptions family;
  EXPECT_THAT(EnableFilter(&family, {.bits_per_key = 10}).ToString(),
              HasSubstr("bits_per_key needs a listener in DBOptions: give {&db_options, "));
  rocksdb::Options* const nothing = nullptr;
  EXPECT_THAT(EnableFilter(nothing).ToString(), HasSubstr("the options are null"));
  EXPECT_THAT(EnableSkipIndex(nothing, {}).ToString(), HasSubstr("the options are null"));
}

TEST(Enable, RefusesIndexesThatCannotBe) {
  const auto refuse = [](const SkipIndexOptions& index, const std::string& problem) {
    ExpectRefused({}, problem, [&](rocksdb::Options* o) { return EnableSkipIndex(o, index); });
  };
  const char* const null = nullptr;
  refuse({}, "number of columns is 0; allowed is 1 to 256");
  refuse({.columns = {"a=field:1", "a=field:2"}}, "columns has \"a\" twice");
  refuse({.columns = {"a=field:1", "garbage"}}, "garbage");
  refuse({.columns = {null}}, "column");
  refuse({.columns = {""}}, "column");
  refuse({.columns = {"\xff\xfe"}}, "column");
  refuse({.columns = {std::string(1 << 20, 'x')}}, "column");
  refuse({.columns = {"a=field:1"}, .target_fpr = 2}, "target_fpr");
  rocksdb::ColumnFamilyOptions family;
  EXPECT_THAT(EnableSkipIndex(&family, {.columns = {"a=field:1"}}).ToString(),
              HasSubstr("max_property_bytes=4096 needs a listener in DBOptions"));
  MustBeOk(EnableSkipIndex(&family, {.columns = {"a=field:1"}, .max_property_bytes = UINT64_MAX}),
           "all in properties");
}

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
  rocksdb::Status Scan(const std::string& query, const SkipScanOptions& options = {}) {
    keys_.clear();
    std::unique_ptr<SkipScan> scan;
    rocksdb::Status status = SkipScan::Create(db_.get(), nullptr, query, options, &scan);
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

  EXPECT_THAT(Scan("package = ").ToString(), HasSubstr("position 11: "));
  EXPECT_THAT(Scan("color = 'red'").ToString(), HasSubstr("position 1: "));
  EXPECT_TRUE(Scan("TRUE LIMIT 1", {.limit = 1}).IsInvalidArgument());
}

TEST_F(EnabledDb, ATextTakesColumnsFromTheOptions) {
  rocksdb::Options options;
  options.create_if_missing = true;
  db_ = OpenDb(options, dir_ / "db");
  EXPECT_THAT(Scan("a = 1").ToString(), HasSubstr("there are 0; allowed is 1"));
}

}  // namespace
}  // namespace blocksieve::testing
