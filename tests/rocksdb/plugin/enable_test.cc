// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rocksdb/snapshot.h>
#include <rocksdb/table.h>

#include <memory>
#include <string>
#include <vector>

#include "blocksieve/rocksdb.h"
#include "blocksieve/rocksdb/skip_index.h"
#include "integration/rocksdb/compat/version_differences.h"
#include "tests/support/logs.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test_db.h"

// The calls that a program makes on its options.

namespace blocksieve::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

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
  const auto refuses = [&](const std::string& query, const SkipScanOptions& options,
                           const std::vector<std::string>& words) {
    const rocksdb::Status status = Scan(query, options);
    EXPECT_TRUE(status.IsInvalidArgument()) << words[0];
    EXPECT_LT(status.ToString().size(), 1000u) << words[0];
    for (const std::string& word : words) EXPECT_THAT(status.ToString(), HasSubstr(word));
  };
  const std::string megabyte(1 << 20, 'x');
  rocksdb::ManagedSnapshot snapshot(db_.get());
  refuses(megabyte, {}, {"position 1: ", "xxxx", "..."});
  refuses("a = '" + megabyte.substr(10), {}, {"position 5: ", "...", "no closing quote"});
  refuses(megabyte + "x", {}, {"position 1048577: predicate is longer than 1048576 bytes"});
  refuses("\xff\xfe", {}, {"position 1: unknown column '\xff\xfe'; known: a, w"});
  refuses("a = ", {}, {"position 5: expected", "found the end"});
  refuses("color = 'red'", {}, {"position 1: ", "color"});
  refuses("TRUE LIMIT 1", {.limit = 1}, {"order or a limit", "allowed: one of them"});
  const ScanOrder by_a{*Column::Parse("a=field:1")};
  refuses("TRUE", {.order = by_a}, {"limit is 0; allowed: 1 or more with an order"});
  refuses("TRUE", {.limit = 1, .reverse = true, .order = by_a},
          {"reverse is true; allowed: false with an order"});
  refuses("TRUE", {.limit = 1, .order = ScanOrder{*Column::Parse("w=words:2")}},
          {"order is by w", "allowed: a column of whole values"});
  for (const double share : {-0.1, 1.5, std::nan("")}) {
    refuses("TRUE", {.max_rechecked_share = share},
            {"max_rechecked_share is ", "; allowed: 0 to 1"});
  }
  const rocksdb::Slice bound = "x";
  const auto reads = [&](const std::string& name, auto change) {
    SkipScanOptions options;
    change(&options.read_options);
    refuses("TRUE", options, {"read_options." + name + " is set; allowed: its default"});
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
