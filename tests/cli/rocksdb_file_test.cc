// SPDX-License-Identifier: Apache-2.0
#include <rocksdb/comparator.h>
#include <rocksdb/convenience.h>

#include "blocksieve/filter.h"
#include "blocksieve/hash.h"
#include "integration/cli/database/database.h"
#include "integration/cli/database/table/table_file.h"
#include "integration/cli/term/terminal.h"
#include "integration/rocksdb/compat/version_differences.h"
#include "tests/support/key_sets.h"
#include "tests/support/test_db.h"

namespace blocksieve::cli {
namespace {

// The only file of a database.
std::unique_ptr<TableFile> OpenFileOf(const std::string& db_path) {
  for (const auto& entry : std::filesystem::directory_iterator(db_path)) {
    if (entry.path().extension() != ".sst") continue;
    FilePlace place;
    place.path = entry.path();
    return TableFile::Open(place);
  }
  return nullptr;
}

// The same, removed after opening, as by a compaction of another process.
std::unique_ptr<TableFile> OpenThenRemove(testing::FilterShape shape) {
  testing::TestDb db(testing::MakeConfig(shape, testing::NewPolicy({.target_fpr = 0.01})));
  db.Fill(testing::PresentKeys(testing::KeyShape::kCounter, 5000));
  return OpenFileOf(db.path());
}

// Counts the keys that pass the filters.
TableFile::KeyVisitor CountPassed(uint64_t* keys) {
  return [keys](std::string_view, bool passes) { *keys += passes ? 1 : 0; };
}

TEST(RocksDbFileTest, RemovedByAnotherProcess) {
  // Filters are in memory, and the open file is still there.
  for (const auto shape : {testing::FilterShape::kFull, testing::FilterShape::kPartitioned}) {
    const FileCheck check = CheckFile(OpenThenRemove(shape).get(), 100);
    EXPECT_TRUE(check.problems.empty());
    EXPECT_EQ(check.keys.num_checked, 5000u);
  }
}

TEST(RocksDbFileTest, HiddenMergesWithBlobsAreNoProblem) {
  testing::DbConfig config =
      testing::MakeConfig(testing::FilterShape::kFull, testing::NewPolicy({.target_fpr = 0.01}));
  testing::UseMergeOperator(&config, "stringappend");
  config.options.enable_blob_files = true;
  testing::TestDb db(config);
  db.Put("a", "in a blob file");
  const rocksdb::Snapshot* const snapshot = db->GetSnapshot();  // keeps both versions
  db.MergeAppend("a", "operand");
  db.Flush();
  db->ReleaseSnapshot(snapshot);
  uint64_t passed = 0;
  const auto file = OpenFileOf(db.path());
  const std::string unread = file->ForEachKey(CountPassed(&passed));
  EXPECT_EQ(unread.find("of 2 entries") == std::string::npos, rocksdb_plugin::kReadsAllVersions);
  EXPECT_TRUE(file->FindDamage().empty());
}

// RocksDB 11.9's own iterators over such a file end the process.
TEST(RocksDbFileTest, EntitiesWithColumnsInBlobsAreRead) {
  testing::DbConfig config =
      testing::MakeConfig(testing::FilterShape::kFull, testing::NewPolicy({.target_fpr = 0.01}));
  config.options.enable_blob_files = true;
  testing::TestDb db(config);
  const std::string value(100, 'x');
  testing::MustBeOk(
      db->PutEntity({}, db->DefaultColumnFamily(), "a", {{"", value}, {"other", value}}), "put");
  db.Put("c", value);
  db.Flush();
  uint64_t passed = 0;
  const auto file = OpenFileOf(db.path());
  EXPECT_EQ(file->ForEachKey(CountPassed(&passed)), "");
  EXPECT_EQ(passed, 2u);
  EXPECT_TRUE(file->IndexFinds("a"));
  EXPECT_TRUE(file->HasKeyIn("a", "b"));
  EXPECT_FALSE(file->HasKeyIn("b", "c"));
}

// For versions of RocksDB that can leave timestamps out of files.
template <class Options>
bool LeaveOutTimestamps(Options* options) {
  if constexpr (requires { options->persist_user_defined_timestamps; }) {
    testing::MustBeOk(rocksdb::Comparator::CreateFromString({}, "leveldb.BytewiseComparator.u64ts",
                                                            &options->comparator));
    options->persist_user_defined_timestamps = false;
    options->allow_concurrent_memtable_write = false;
    return true;
  } else {
    return false;
  }
}

TEST(RocksDbFileTest, WithoutTheTimestampsOfItsComparator) {
  for (const auto shape : {testing::FilterShape::kFull, testing::FilterShape::kPartitioned}) {
    testing::DbConfig config = testing::MakeConfig(shape, testing::NewPolicy({.target_fpr = 0.01}));
    if (!LeaveOutTimestamps(&config.options)) GTEST_SKIP() << "this RocksDB always writes them";
    const testing::TempDir dir;
    const auto db = testing::OpenDb(config.ToOptions(), dir / "db");
    const std::string time(8, '\1');
    for (const std::string& key : testing::PresentKeys(testing::KeyShape::kUrl, 1000)) {
      ASSERT_TRUE(db->Put({}, key, time, "value").ok());
    }
    ASSERT_TRUE(db->Flush({}).ok());
    uint64_t passed = 0;
    EXPECT_EQ(OpenFileOf(dir / "db")->ForEachKey(CountPassed(&passed)), "");
    EXPECT_EQ(passed, 1000);
  }
}

/// Another program's: reads keys from the last to the first.
class Descending final : public rocksdb::Comparator {
 public:
  const char* Name() const override { return "descending"; }
  int Compare(const rocksdb::Slice& a, const rocksdb::Slice& b) const override {
    return b.compare(a);
  }
  void FindShortestSeparator(std::string*, const rocksdb::Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

// RocksDB's Debian package aborts if it reads keys in a wrong order.
TEST(TableFileTest, KeysInAnUnknownOrderAreNotRead) {
  static const Descending descending;
  const std::shared_ptr<const rocksdb::FilterPolicy> bloom(rocksdb::NewBloomFilterPolicy(10));
  for (const auto shape : {testing::FilterShape::kFull, testing::FilterShape::kPartitioned}) {
    testing::DbConfig config = testing::MakeConfig(shape, bloom);
    config.options.comparator = &descending;
    testing::TestDb db(config);
    db.Fill(testing::PresentKeys(testing::KeyShape::kCounter, 5000));
    const auto file = OpenFileOf(db.path());
    EXPECT_EQ(file->report().num_entries, 5000u);
    const FileCheck check = CheckFile(file.get(), 100);
    EXPECT_TRUE(check.problems.empty()) << check.problems[0];
    EXPECT_EQ(check.file.filter.origin, FilterOrigin::kStock);
    EXPECT_LT(check.file.filter.predicted_fpr, 0.02);
    EXPECT_EQ(check.unchecked,
              "keys were not checked: this command does not have the comparator descending");
  }
}

// Keys that were chosen by the filter's own hash.
TEST(FileCheckTest, ARateFarAboveThePredictionIsAProblem) {
  for (const bool chosen : {false, true}) {
    testing::TestDb db(
        testing::MakeConfig(testing::FilterShape::kFull, testing::NewPolicy({.target_fpr = 0.01})));
    std::vector<std::string> keys;
    for (const std::string& key : testing::PresentKeys(testing::KeyShape::kCounter, 40'000)) {
      if (!chosen || HashKey(key) >> 60 == 0) keys.push_back(key);
    }
    db.Fill(keys);
    const FileCheck check = CheckFile(OpenFileOf(db.path()).get(), 20'000);
    EXPECT_EQ(check.problems.size(), chosen ? 1u : 0u);
    if (!chosen) continue;
    EXPECT_NE(check.problems.at(0).find(" of absent keys; predicted: 0.00"), std::string::npos)
        << check.problems.at(0);
  }
}

TEST(TargetFilesTest, AFileThatIsRemovedWhileItIsReadIsNoProblem) {
  testing::TestDb db(testing::MakeConfig(testing::FilterShape::kFull, nullptr));
  db.Fill({"key"});
  TargetFiles files;
  files.places = {OpenFileOf(db.path())->report().place};
  const auto fail = [](TableFile*) { term::Fail("cannot read it"); };
  files.ForEach("", fail);
  EXPECT_EQ(files.unopened.size(), 1u);
  files.ForEach("", [&](TableFile* file) {
    std::filesystem::remove(file->report().place.path);
    fail(file);
  });
  EXPECT_EQ(files.vanished.size(), 1u);
  EXPECT_TRUE(files.unopened.empty());
}

std::string BuildFilter(size_t num_keys, double fpr, const std::string& prefixes = "") {
  const auto keys = testing::PresentKeys(testing::KeyShape::kCounter, num_keys);
  const auto filter =
      Filter::Build(keys, {.kind = FilterKind::kRibbon, .target_fpr = fpr, .prefixes = prefixes});
  return std::string(AsText(filter->bytes()));
}

double RateOf(const std::string& filter) { return DescribeFilter(AsBytes(filter))->predicted_fpr; }

double MeanRate(const std::vector<std::string>& filters, uint64_t num_keys) {
  FilterReport report;
  DescribeFilters(filters, num_keys, &report);
  return report.predicted_fpr;
}

// The last partition of a file, which has few keys.
TEST(FilterFactsTest, FiltersAreWeightedByTheirKeys) {
  const std::string many = BuildFilter(9'900, 0.001);
  const std::string few = BuildFilter(100, 0.1);
  EXPECT_DOUBLE_EQ(MeanRate({many}, 9'900), RateOf(many));
  EXPECT_DOUBLE_EQ(MeanRate({many, few}, 10'000), 0.99 * RateOf(many) + 0.01 * RateOf(few));
}

TEST(FilterFactsTest, UnreadableFiltersHaveTypicalWeight) {
  const std::string readable = BuildFilter(1000, 0.001);
  std::string damaged = readable;
  damaged[damaged.size() - 8] ^= 1;
  EXPECT_DOUBLE_EQ(MeanRate({damaged}, 1000), 1);
  EXPECT_DOUBLE_EQ(MeanRate({readable, damaged, readable}, 3000), (2 * RateOf(readable) + 1) / 3);
}

TEST(FilterFactsTest, SaysWhyAFilterCannotBeRead) {
  const std::string ribbon_without_slots("data\xfe\0\0\0\0", 9);
  const std::string legacy_without_lines("data\6\0\0\0\0", 9);
  const std::string legacy_with_long_lines(std::string(512, 'x') + std::string("\6\1\0\0\0", 5));
  std::string unknown_rule = BuildFilter(100, 0.01, "lengths:7");
  unknown_rule[unknown_rule.rfind(std::string("\x02\x07\0", 3))] = 9;
  for (const std::string& filter : {std::string(), std::string(16, '\0'), ribbon_without_slots,
                                    legacy_without_lines, legacy_with_long_lines, unknown_rule}) {
    FilterReport report;
    DescribeFilters({filter}, 1, &report);
    EXPECT_EQ(report.problems.size(), 1U);
  }
}

// Values of Newcombe, "Two-sided confidence intervals for the single proportion", 1998, table I,
// method 3.
TEST(WilsonIntervalTest, HasThePublishedBounds) {
  const auto [low, high] = WilsonInterval(81, 263);
  EXPECT_NEAR(low, 0.2553, 5e-5);
  EXPECT_NEAR(high, 0.3662, 5e-5);
  const auto [low_of_few, high_of_few] = WilsonInterval(1, 29);
  EXPECT_NEAR(low_of_few, 0.0061, 5e-5);
  EXPECT_NEAR(high_of_few, 0.1718, 5e-5);
  EXPECT_EQ(WilsonInterval(0, 20).first, 0);
  EXPECT_EQ(WilsonInterval(20, 20).second, 1);
}

}  // namespace
}  // namespace blocksieve::cli
