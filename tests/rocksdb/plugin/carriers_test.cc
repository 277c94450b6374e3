// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/listener.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/table.h>
#include <rocksdb/table_properties.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "blocksieve/rocksdb.h"
#include "integration/rocksdb/compat/version_differences.h"
#include "tests/rocksdb/block_index/use_block_index.h"
#include "tests/support/logs.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test_db.h"

// What Enable sets, with options of others beside it, and databases whose files have two carriers.

namespace blocksieve::testing {
namespace {

using rocksdb::Options;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Table = rocksdb::BlockBasedTableOptions;
using Change = std::function<void(Options*, Table*)>;

const EnableOptions kAll = {.bits_per_key = 10, .ranges = true, .columns = {"n=int:value"}};
constexpr const char* kExtractor = "blocksieve.range";

// All features in filters and sidecars.
EnableOptions InFilters() {
  EnableOptions features = kAll;
  features.carrier = Carrier::kFilterAndSidecar;
  return features;
}

Options With(const Change& change) {
  Options options;
  Table table;
  if (change) change(&options, &table);
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

struct TheirListener : rocksdb::EventListener {};

struct TheirCollectors : rocksdb::TablePropertiesCollectorFactory {
  const char* Name() const override { return "theirs"; }
  rocksdb::TablePropertiesCollector* CreateTablePropertiesCollector(Context) override {
    return nullptr;
  }
};

TEST(CarriersTest, AnEmptyStructTakesOutWhatIsOurs) {
  Options options = With([](Options* o, Table* table) {
    table->block_size = 12345;
    o->listeners.push_back(std::make_shared<TheirListener>());
    o->table_properties_collector_factories.push_back(std::make_shared<TheirCollectors>());
  });
  const std::string before = DumpOptions(options);
  for (const EnableOptions& features : {kAll, InFilters()}) {
    MustBeOk(Enable(&options, features));
    EXPECT_NE(DumpOptions(options), before);
    const std::string said = CatchStderr([&] { MustBeOk(Enable(&options, {})); });
    EXPECT_THAT(said, AllOf(HasSubstr("no filter policy is left"), HasSubstr("revert")));
    EXPECT_EQ(DumpOptions(options), before);
    EXPECT_EQ(ExplainCarrier(options), "");
  }
  EXPECT_THAT(CatchStderr([&] { MustBeOk(Enable(&options, {})); }), IsEmpty());
}

TEST(CarriersTest, AnotherPolicyStaysUnlessFiltersHoldRanges) {
  Options options = With(
      [](Options*, Table* table) { table->filter_policy.reset(rocksdb::NewBloomFilterPolicy(9)); });
  MustBeOk(Enable(&options, {.columns = {"n=int:value"}}));
  EXPECT_THAT(DumpOptions(options), HasSubstr("bloomfilter:9"));
  MustBeOk(Enable(&options, {.ranges = true, .carrier = Carrier::kFilterAndSidecar}));
  EXPECT_THAT(DumpOptions(options), HasSubstr("id=blocksieve"));
  EXPECT_THAT(ExplainCarrier(options),
              AllOf(HasSubstr("ranges in filters"), HasSubstr("target_fpr=0.01 is taken")));
}

TEST(CarriersTest, OptionsDecide) {
  const struct {
    Change change;
    EnableOptions features;
    std::string why;  // filters and sidecars; empty: the block index
  } cases[] = {
      {{}, kAll, ""},
      {{}, {.prefixes = "delimiter:/"}, ""},
      {{}, InFilters(), "the options ask for it"},
      {{}, {.columns = {"w=words:value"}}, "column w has a large index"},
      {{}, {.ranges = true, .plain_range_reads = true}, "plain_range_reads"},
      {[](Options*, Table* t) { t->index_type = Table::kTwoLevelIndexSearch; }, kAll, "index_type"},
      {[](Options* o, Table*) { o->compression_opts.parallel_threads = 2; }, kAll,
       "compression_opts.parallel_threads is 2"},
      {[](Options* o, Table*) { o->bottommost_compression_opts.parallel_threads = 2; }, kAll,
       "bottommost_compression_opts"},
  };
  for (const auto& [change, features, why] : cases) {
    Options options = With(change);
    MustBeOk(Enable(&options, features));
    const bool is_old = !kHasBlockIndexes;
    const std::string expected = is_old        ? "RocksDB 11.2 or later"
                                 : why.empty() ? "in the block index"
                                               : why;
    EXPECT_THAT(ExplainCarrier(options), HasSubstr(expected));
    EXPECT_EQ(ExplainCarrier(options).find("sidecars") == std::string::npos,
              !is_old && why.empty());
  }
}

TEST(CarriersTest, AllFamiliesOrNone) {
  std::vector<rocksdb::ColumnFamilyDescriptor> families(2);
  families[1].options.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(3));
  rocksdb::DBOptions db;
  const rocksdb::Status refused = Enable({&db, &families}, InFilters());
  EXPECT_THAT(refused.ToString(), HasSubstr("prefix_extractor is rocksdb.FixedPrefix"));
  EXPECT_EQ(ExplainCarrier(families[0].options), "");
  EXPECT_THAT(db.listeners, IsEmpty());
  families[1].options.prefix_extractor = nullptr;
  MustBeOk(Enable({&db, &families}, InFilters()));
  for (const auto& family : families) EXPECT_THAT(ExplainCarrier(family.options), Not(IsEmpty()));
  EXPECT_EQ(db.listeners.size(), 1u);
}

// Adopts the database of an older carrier, half of it. RandomDatabaseTest goes back, too.
class MixedCarriersTest : public ::testing::Test {
 protected:
  void Open(const EnableOptions& features) {
    db_.reset();
    options_.create_if_missing = true;
    options_.disable_auto_compactions = true;
    options_.compression = rocksdb::kNoCompression;
    MustBeOk(Enable(&options_, features));
    db_ = OpenDb(options_, dir_ / "db");
  }

  // A file of 1,000 rows, whose numbers are `first` and above.
  void Write(int first) {
    for (int i = first; i < first + 1000; ++i)
      MustBeOk(db_->Put({}, Key(i), std::to_string(i / 10)));
    MustBeOk(db_->Flush({}));
  }

  static std::string Key(int number) { return "key" + std::to_string(1'000'000 + 2 * number); }

  // All readers show the rows with the number, and no key in a gap.
  void ExpectRows(int number) {
    const std::string condition = "n = " + std::to_string(number);
    std::unique_ptr<rocksdb::Iterator> rows;
    MustBeOk(NewIterator(db_.get(), nullptr, condition, {}, &rows));
    std::vector<std::string> keys;
    for (rows->SeekToFirst(); rows->Valid(); rows->Next()) keys.push_back(rows->key().ToString());
    EXPECT_EQ(keys.size(), 10u);
    std::unique_ptr<SkipScan> scan;
    MustBeOk(SkipScan::Create(db_.get(), nullptr, condition, {}, &scan));
    std::vector<std::string> scanned;
    for (; scan->Valid(); scan->Next()) scanned.push_back(scan->key().ToString());
    MustBeOk(scan->status());
    EXPECT_EQ(scanned, keys);
    const std::string begin = Key(10 * number + 3) + "0";
    const std::string end = Key(10 * number + 3) + "1";
    const rocksdb::Slice bound = end;
    rocksdb::ReadOptions read;
    read.iterate_upper_bound = &bound;
    const uint64_t denied = GetRangeFilterCounts().no;
    MustBeOk(NewIterator(db_.get(), nullptr, "", read, &rows));
    rows->Seek(begin);
    EXPECT_FALSE(rows->Valid());
    EXPECT_GT(GetRangeFilterCounts().no, denied) << number;
  }

  ReadPruningCounts Prune(const std::string& condition) {
    std::shared_ptr<ReadPruning> pruning;
    MustBeOk(PruneReads(db_.get(), nullptr, condition, {}, &pruning));
    const std::unique_ptr<rocksdb::Iterator> rows(db_->NewIterator(pruning->read_options()));
    for (rows->SeekToFirst(); rows->Valid(); rows->Next()) {
    }
    return pruning->counts();
  }

  size_t CountSidecars() {
    std::vector<std::string> names;
    MustBeOk(rocksdb::Env::Default()->GetChildren(dir_ / "db", &names));
    return static_cast<size_t>(std::ranges::count_if(
        names, [](const std::string& name) { return name.ends_with(".bsx"); }));
  }

  const TempDir dir_;
  Options options_;
  std::unique_ptr<rocksdb::DB> db_;
};

TEST_F(MixedCarriersTest, EachFileIsReadByWhatItHas) {
  EnableOptions old = InFilters();
  old.max_property_bytes = 0;
  Open(old);
  Write(0);
  Write(1000);
  EXPECT_EQ(CountSidecars(), 2u);
  Open(kAll);
  const bool by_block = kHasBlockIndexes;
  EXPECT_EQ(ExplainCarrier(options_).find("block index, as") != std::string::npos, by_block);
  EXPECT_STREQ(options_.prefix_extractor->Name(), kExtractor);
  Write(2000);
  Write(3000);
  for (const int number : {20, 120, 220, 399}) ExpectRows(number);
  const ReadPruningCounts counts = Prune("n = 250");
  EXPECT_EQ(counts.files_pruned + counts.files_by_block, by_block ? 4u : 3u);
  EXPECT_EQ(counts.blocks_left_out > 0, by_block);
  if (by_block) {  // the listener goes on with the sidecars of the old files
    rocksdb::CompactRangeOptions all;
    all.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
    MustBeOk(db_->CompactRange(all, nullptr, nullptr));
    EXPECT_EQ(CountSidecars(), 0u);
  }
}

// Four runs, each with an update or a delete of the rows of one time in every series, above the run
// with all rows. By values, no file above another may be left out.
TEST_F(MixedCarriersTest, PartsOfTheKeyLeaveOutFilesAboveOthers) {
  const ColumnList columns = {"t=key:uint8(-1)", "n=int:value"};
  for (const Carrier carrier : {Carrier::kAuto, Carrier::kFilterAndSidecar}) {
    SCOPED_TRACE(carrier == Carrier::kAuto);
    db_.reset();
    MustBeOk(rocksdb::DestroyDB(dir_ / "db", options_));
    options_ = Options();
    Open({.columns = columns, .carrier = carrier});
    std::map<std::string, std::string> rows;
    const auto key_of = [](int series, int time) {
      return "series" + std::to_string(100 + series) + static_cast<char>(time);
    };
    const auto write = [&](int series, int time, const char* value) {
      const std::string key = key_of(series, time);
      if (value == nullptr) {
        rows.erase(key);
        return MustBeOk(db_->Delete({}, key));
      }
      rows[key] = value;
      MustBeOk(db_->Put({}, key, value));
    };
    for (int i = 0; i < 300 * 8; ++i) write(i / 8, i % 8, "1");
    MustBeOk(db_->Flush({}));
    for (int time = 1; time < 8; time += 2) {
      for (int series = 0; series < 300; ++series)
        write(series, time, time == 5 ? nullptr : (series % 2 == 0 ? "2" : "1"));
      MustBeOk(db_->Flush({}));
    }
    uint64_t left_out = 0;
    for (const std::string condition :
         {"t = 3", "t = 5", "t = 4", "t = 3 AND n = 2", "t = 3 OR n = 2", "NOT (t < 7 OR n = 1)",
          "t BETWEEN 4 AND 5", "t > 7", "t = 5 OR (t = 1 AND n = 1)"}) {
      const Predicate wanted =
          *Predicate::Parse(condition, std::vector(columns.begin(), columns.end()));
      std::map<std::string, std::string> expected = rows;
      std::erase_if(expected,
                    [&](const auto& row) { return !wanted.Matches(Row(row.first, row.second)); });
      std::unique_ptr<rocksdb::Iterator> iterator;
      MustBeOk(NewIterator(db_.get(), nullptr, condition, {}, &iterator), condition);
      std::map<std::string, std::string> read;
      for (iterator->SeekToLast(); iterator->Valid(); iterator->Prev())
        read[iterator->key().ToString()] = iterator->value().ToString();
      MustBeOk(iterator->status());
      EXPECT_EQ(read, expected) << condition;
      std::unique_ptr<SkipScan> scan;
      MustBeOk(SkipScan::Create(db_.get(), nullptr, condition, {}, &scan));
      size_t scanned = 0;
      for (; scan->Valid(); scan->Next(), ++scanned)
        EXPECT_TRUE(expected.contains(scan->key().ToString()));
      EXPECT_EQ(scanned, expected.size()) << condition;
      const ReadPruningCounts counts = Prune(condition);
      EXPECT_EQ(counts.num_files, 5u);
      left_out += counts.files_pruned + counts.blocks_left_out;
      if (condition == "t = 4" && !(kHasBlockIndexes && carrier == Carrier::kAuto)) {
        EXPECT_EQ(counts.files_pruned, 4u);
      }
    }
    EXPECT_GT(left_out, 20u);
  }
}

}  // namespace
}  // namespace blocksieve::testing
