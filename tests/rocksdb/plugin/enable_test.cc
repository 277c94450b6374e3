// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <rocksdb/listener.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/snapshot.h>
#include <rocksdb/table_properties.h>

#include <cmath>
#include <functional>

#include "blocksieve/rocksdb.h"
#include "integration/rocksdb/compat/version_differences.h"
#include "tests/support/logs.h"
#include "tests/support/test_db.h"

// The calls that a program makes on its options.

namespace blocksieve::testing {
namespace {

using rocksdb::Options;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(EnableTest, TheLastCallCounts) {
  rocksdb::Options once;
  once.compaction_style = rocksdb::kCompactionStyleUniversal;
  rocksdb::BlockBasedTableOptions table;
  table.block_size = 12345;
  once.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  rocksdb::Options twice = once;
  MustBeOk(Enable(&twice, {.bits_per_key = 12,
                           .ranges = true,
                           .columns = {"old=value"},
                           .carrier = Carrier::kFilterAndSidecar,
                           .value_fpr = 0.1}));
  EXPECT_THAT(DumpOptions(twice), HasSubstr("blocksieve.range"));
  for (rocksdb::Options* const options : {&once, &twice, &twice})
    MustBeOk(Enable(options, {.wasted_reads = 0.1, .columns = {"new=field:1"}}));
  EXPECT_EQ(DumpOptions(once), DumpOptions(twice));
  EXPECT_THAT(DumpOptions(twice),
              AllOf(HasSubstr("block_size=12345"), HasSubstr("wasted_reads=0.1"),
                    HasSubstr("listeners: 1, collectors: 1")));
}

TEST(EnableTest, TheInfoLogExplainsTheCarrierOnceForEachFamilyAndOpening) {
  const TempDir dir;
  rocksdb::DBOptions shared;
  shared.create_if_missing = shared.create_missing_column_families = true;
  const auto log = std::make_shared<MemoryLogger>();
  shared.info_log = log;
  for (size_t opening = 1; opening <= 2; ++opening) {
    rocksdb::DBOptions options = shared;
    std::vector<rocksdb::ColumnFamilyDescriptor> families = {
        {"default", {}}, {"rows", {}}, {"plain", {}}};
    MustBeOk(Enable({&options, &families[0].options}, {.ranges = true}));
    MustBeOk(Enable({&options, &families[1].options},
                    {.ranges = true, .prefixes = "delimiter:/", .columns = {"a=field:1"}}));
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
    std::unique_ptr<rocksdb::DB> db;
    MustBeOk(rocksdb_plugin::OpenDb(&db, [&](rocksdb_plugin::OpenedDb* opened) {
      return rocksdb::DB::Open(options, dir / "db", families, &handles, opened);
    }));
    for (const std::string key : {"a", "b"}) {
      for (auto* const handle : handles) {
        MustBeOk(db->Put({}, handle, key, "value"));
        MustBeOk(db->Flush({}, handle));
      }
    }
    for (auto* const handle : handles) MustBeOk(db->DestroyColumnFamilyHandle(handle));
    for (const auto& [name, family] : families) {
      const std::string carrier = ExplainCarrier(family);
      EXPECT_EQ(carrier.empty(), name == "plain");
      EXPECT_EQ(CountOf(log->text(), "column family " + name + ": new files have " + carrier),
                carrier.empty() ? 0 : opening);
    }
  }
}

using Table = rocksdb::BlockBasedTableOptions;
using Change = std::function<void(Options*, Table*)>;

const EnableOptions kAll = {.bits_per_key = 10, .ranges = true, .columns = {"n=int:value"}};

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

class EnabledDbTest : public ::testing::Test {
 protected:
  void Open(const ColumnList& columns) {
    rocksdb::Options options;
    options.create_if_missing = true;
    MustBeOk(
        Enable({&options, &options}, {.target_fpr = 0.01, .ranges = true, .columns = columns}));
    db_ = OpenDb(options, dir_ / "db");
  }

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

TEST_F(EnabledDbTest, RefusesInvalidScans) {
  Open({"a=field:1", "w=words:2"});
  const std::string megabyte(1 << 20, 'x');
  const ScanOrder by_a{*Column::Parse("a=field:1")};
  struct Case {
    std::string query;
    std::string said;
    SkipScanOptions options = {};
  };
  std::vector<Case> cases = {
      {megabyte, "position 1: unknown column 'xxxx"},
      {"a = '" + megabyte.substr(10), "..., which has no closing quote"},
      {megabyte + "x", "position 1048577: predicate is longer than 1048576 bytes"},
      {"\xff\xfe", "position 1: unknown column '\xff\xfe'; known: a, w"},
      {"a = ", "position 5: expected a number or a string in single quotes, found the end"},
      {"TRUE LIMIT 1", "allowed: one of them", {.limit = 1}},
      {"TRUE", "limit is 0; allowed: 1 or more with an order", {.order = by_a}},
      {"TRUE",
       "reverse is true; allowed: false with an order",
       {.limit = 1, .reverse = true, .order = by_a}},
      {"TRUE", "order is by w", {.limit = 1, .order = ScanOrder{*Column::Parse("w=words:2")}}},
  };
  for (const double share : {-0.1, 1.5, std::nan("")})
    cases.push_back({"TRUE", "; allowed: 0 to 1", {.max_rechecked_share = share}});
  rocksdb::ManagedSnapshot snapshot(db_.get());
  const rocksdb::Slice bound = "x";
  const auto reads = [&](const std::string& name, auto change) {
    cases.push_back({"TRUE", "read_options." + name + " is set; allowed: its default"});
    change(&cases.back().options.read_options);
  };
  using Reads = rocksdb::ReadOptions;
  reads("snapshot", [&](Reads* r) { r->snapshot = snapshot.snapshot(); });
  reads("iterate_lower_bound", [&](Reads* r) { r->iterate_lower_bound = &bound; });
  reads("iterate_upper_bound", [&](Reads* r) { r->iterate_upper_bound = &bound; });
  reads("read_tier", [](Reads* r) { r->read_tier = rocksdb::kBlockCacheTier; });
  reads("tailing", [](Reads* r) { r->tailing = true; });
  reads("prefix_same_as_start", [](Reads* r) { r->prefix_same_as_start = true; });
  reads("timestamp", [&](Reads* r) { r->timestamp = &bound; });
  reads("iter_start_ts", [&](Reads* r) { r->iter_start_ts = &bound; });
  reads("value_size_soft_limit", [](Reads* r) { r->value_size_soft_limit = 20; });
  for (const auto& [query, said, options] : cases) {
    const rocksdb::Status status = Scan(query, options);
    EXPECT_TRUE(status.IsInvalidArgument()) << said;
    EXPECT_LT(status.ToString().size(), 1000u) << said;
    EXPECT_THAT(status.ToString(), HasSubstr(said));
  }
}

TEST_F(EnabledDbTest, RefusesNull) {
  Open({"a=field:1"});
  const auto refuses = [](const std::string& name, const rocksdb::Status& status) {
    EXPECT_TRUE(status.IsInvalidArgument());
    EXPECT_THAT(status.ToString(), HasSubstr(name + " is null; allowed: an address"));
  };
  const Predicate all = *Predicate::Parse("TRUE", {});
  std::unique_ptr<SkipScan> scan;
  refuses("db", SkipScan::Create(nullptr, nullptr, "TRUE", {}, &scan));
  refuses("db", SkipScan::Create(nullptr, nullptr, all, {}, &scan));
  refuses("scan", SkipScan::Create(db_.get(), nullptr, "TRUE", {}, nullptr));
  refuses("db", RebuildSkipIndexes(nullptr, {}));
  refuses("db", CopySkipIndexes(nullptr, nullptr, "x"));
}

TEST_F(EnabledDbTest, QueriesUseTheColumnsOfTheOptions) {
  Open({});
  EXPECT_THAT(Scan("a = 1").ToString(), HasSubstr("options is 0; allowed: 1"));
}

}  // namespace
}  // namespace blocksieve::testing
