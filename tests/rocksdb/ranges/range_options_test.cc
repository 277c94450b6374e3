#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rocksdb/convenience.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/table.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "blocksieve/rocksdb.h"
#include "blocksieve/rocksdb/filter_policy.h"
#include "integration/rocksdb/compat/open_db.h"
#include "integration/rocksdb/compat/version_differences.h"
#include "integration/rocksdb/policy/policy.h"
#include "integration/rocksdb/ranges/range_extractor.h"
#include "tests/rocksdb/ranges/range_db.h"

// Options of range filters, through OPTIONS files. Meaning of the text: option_promises_test.cc.
// Refused options: bad_input_test.cc.

namespace blocksieve::rocksdb_plugin {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kFamilyText =
    "prefix_extractor=blocksieve.range;block_based_table_factory={filter_policy={id=blocksieve;"
    "ranges=true;range_fpr=0.01;plain_range_reads=true}}";

class RangeOptions : public ::testing::Test {
 protected:
  RangeOptions() { blocksieve_rocksdb_register(); }

  static rocksdb::Options FromText(const std::string& text) {
    rocksdb::ColumnFamilyOptions family;
    MustBeOk(rocksdb::GetColumnFamilyOptionsFromString(StrictConfig(), {}, text, &family), text);
    rocksdb::Options options({}, family);
    options.create_if_missing = true;
    return options;
  }

  static FilterPolicyOptions PolicyOptionsOf(const rocksdb::ColumnFamilyOptions& family) {
    const auto* const table = family.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
    const auto* const ours = As<Policy>(table->filter_policy.get());
    if (ours == nullptr) MustBeOk(rocksdb::Status::NotFound(), "our policy");
    return ours->options();
  }

  // All OPTIONS files of a database, concatenated.
  static std::string OptionsText(const std::string& db_path) {
    std::ostringstream text;
    for (const auto& entry : std::filesystem::directory_iterator(db_path)) {
      if (entry.path().filename().string().rfind("OPTIONS", 0) != 0) continue;
      text << std::ifstream(entry.path()).rdbuf();
    }
    return text.str();
  }

  // How often filters answer "no" to seeks of empty ranges with plain ReadOptions.
  static uint64_t NoOfPlainSeeks(rocksdb::DB* db) {
    const EmptySeeks seeks = SeekEmptyRanges(db, db->DefaultColumnFamily(), {}, 500);
    EXPECT_EQ(seeks.found, 0u);
    return seeks.counts.no;
  }
};

// Files with plain_range_reads have another name of the extractor. It stays out of OPTIONS, however
// many such files the thread wrote before.
TEST_F(RangeOptions, GoThroughOptionsFilesWithoutTheMarksOfFiles) {
  const TempDir dir;
  const std::string path = dir / "db";
  std::unique_ptr<rocksdb::DB> db = blocksieve::testing::OpenDb(FromText(kFamilyText), path);
  for (int round = 0; round < 3; ++round) {
    WriteRangeFile(db.get(), db->DefaultColumnFamily(), round);
    EXPECT_GT(NoOfPlainSeeks(db.get()), 480u);
    MustBeOk(db->SetOptions({{"write_buffer_size", std::to_string(1'000'000 + round)}}), "set");
    MustBeOk(db->CompactRange({}, nullptr, nullptr), "compact");
    EXPECT_GT(NoOfPlainSeeks(db.get()), 480u);
    EXPECT_THAT(OptionsText(path),
                AllOf(HasSubstr("prefix_extractor=blocksieve.range\n"), Not(HasSubstr(".file"))));
    for (const auto& [name, properties] : FilesOf(*db)) {
      EXPECT_EQ(properties->prefix_extractor_name, "blocksieve.range.file") << name;
    }
    db.reset();
    const StoredOptions stored(path);
    const FilterPolicyOptions policy = PolicyOptionsOf(stored.column_family());
    EXPECT_TRUE(policy.ranges);
    EXPECT_EQ(policy.range_fpr, 0.01);
    EXPECT_TRUE(policy.plain_range_reads);
    EXPECT_STREQ(stored.column_family().prefix_extractor->Name(), "blocksieve.range");
    db = blocksieve::testing::OpenDb(rocksdb::Options(stored.db, stored.column_family()), path);
    EXPECT_GT(NoOfPlainSeeks(db.get()), 480u);
  }
}

TEST_F(RangeOptions, TheExtractorIsReplacedOnlyOnRequest) {
  rocksdb::Options enabled;
  enabled.prefix_extractor.reset(rocksdb::NewCappedPrefixTransform(3));
  RangeFilterOptions replacing;
  replacing.replace_prefix_extractor = true;
  MustBeOk(EnableRangeFilter(&enabled, replacing), "replace");
  EXPECT_TRUE(IsRangeExtractor(enabled.prefix_extractor.get()));
  MustBeOk(EnableRangeFilter(&enabled), "once more");
}

}  // namespace
}  // namespace blocksieve::rocksdb_plugin
