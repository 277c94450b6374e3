// SPDX-License-Identifier: Apache-2.0
#include <new>
#include <optional>

#include "blocksieve/hash.h"
#include "integration/rocksdb/index/skip_index_catalog.h"
#include "integration/rocksdb/index/skip_index_collector.h"
#include "integration/rocksdb/index/skip_index_properties.h"
#include "tests/rocksdb/scan/skip_test_db.h"
#include "tests/support/built_filter.h"
#include "tests/support/failing_allocation.h"
#include "tests/support/key_sets.h"
#include "tests/support/logs.h"

// Every allocation of the plug-in fails once. RocksDB is not exception-safe, so the plug-in must
// not throw: a filter or index without memory is left out, with a line in the log, and its keys may
// match. A scan, which users call, returns an error.

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

constexpr size_t kLogBytes = 1 << 20;

class FilterAllocationFailureTest : public ::testing::TestWithParam<FilterKind> {
 protected:
  FilterAllocationFailureTest() {
    table_.optimize_filters_for_memory = GetParam() == FilterKind::kRibbon;
    table_.detect_filter_construct_corruption = true;
    log_.Reserve(kLogBytes);
  }

  const std::vector<std::string> keys_ = PresentKeys(KeyShape::kUrl, 3000);
  const std::shared_ptr<const rocksdb::FilterPolicy> policy_ = NewPolicy({.kind = GetParam()});
  rocksdb::BlockBasedTableOptions table_;
  MemoryLogger log_;
};

INSTANTIATE_TEST_SUITE_P(Kinds, FilterAllocationFailureTest,
                         ::testing::Values(FilterKind::kBlockedBloom, FilterKind::kRibbon),
                         [](const auto& info) {
                           return info.param == FilterKind::kBlockedBloom ? "Bloom" : "Ribbon";
                         });

TEST_P(FilterAllocationFailureTest, WithoutABuilderThereIsNoFilter) {
  rocksdb::FilterBuildingContext context(table_);
  context.info_log = &log_;
  for (const auto& policy : {policy_, NewPolicy({.wasted_reads = 0.1, .kind = GetParam()})}) {
    const uint64_t failures = FailEachAllocation(
        [&] {
          return std::unique_ptr<rocksdb::FilterBitsBuilder>(
              policy->GetBuilderWithContext(context));
        },
        [](const auto& builder, bool failed) { EXPECT_TRUE(builder != nullptr || failed); });
    EXPECT_GT(failures, 0u);
  }
  EXPECT_NE(log_.text().find("lookups read its blocks; reason: out of memory"), std::string::npos);
}

TEST_P(FilterAllocationFailureTest, FiltersThatCannotBeBuiltMayMatch) {
  const auto builder = NewBuilder(*policy_, table_, &log_);
  const auto build = [&] {
    BuiltFilter filter = Build(builder.get(), keys_);
    const rocksdb::Status verified = builder->MaybePostVerify(filter.contents);
    if (filter.status.ok()) filter.status = verified;
    return filter;
  };
  uint64_t always = 0;
  const uint64_t failures = FailEachAllocation(build, [&](const BuiltFilter& filter, bool failed) {
    EXPECT_TRUE(filter.status.ok()) << filter.status.ToString();
    EXPECT_GT(filter.contents.size(), 5u) << "RocksDB takes fewer for \"no keys\"";
    EXPECT_EQ(CountMatches(*policy_, filter, keys_), keys_.size());
    const auto absent = AbsentKeys(KeyShape::kUrl, 200);
    const bool is_always = CountMatches(*policy_, filter, absent) == absent.size();
    EXPECT_TRUE(failed || !is_always);
    always += is_always;
  });
  EXPECT_GT(failures, 5u);
  EXPECT_GT(always, 0u);
  EXPECT_NE(log_.text().find("no filter written for a file"), std::string::npos);
}

TEST_P(FilterAllocationFailureTest, AFilterThatCannotBeOpenedMayMatch) {
  const BuiltFilter ours = BuildFilter(*policy_, keys_);
  const std::unique_ptr<const rocksdb::FilterPolicy> stock_policy(
      rocksdb::NewBloomFilterPolicy(10));
  const BuiltFilter stock = BuildFilter(*stock_policy, keys_);
  std::string damaged = ours.contents.ToString();
  damaged[damaged.size() - 12] = static_cast<char>(~damaged[damaged.size() - 12]);
  uint64_t failures = 0;
  for (const rocksdb::Slice& contents : {ours.contents, stock.contents, rocksdb::Slice(damaged)}) {
    failures += FailEachAllocation(
        [&] {
          return std::unique_ptr<rocksdb::FilterBitsReader>(policy_->GetFilterBitsReader(contents));
        },
        [&](const auto& reader, bool failed) {
          EXPECT_TRUE(reader != nullptr || failed);
          if (reader != nullptr) {
            EXPECT_EQ(CountMatches(reader.get(), keys_), keys_.size());
          }
        });
  }
  EXPECT_GT(failures, 3u);
}

class SkipIndexAllocationFailureTest : public SkipFixture {
 protected:
  SkipIndexAllocationFailureTest() {
    settings_.index = ShortGranules(kDefinitions);
    log_->Reserve(kLogBytes);
    settings_.info_log = log_;
  }

  const std::shared_ptr<MemoryLogger> log_ = std::make_shared<MemoryLogger>();
  rocksdb_plugin::SkipIndexSettings settings_;
};

TEST_F(SkipIndexAllocationFailureTest, AFileGetsAWholeIndexOrNone) {
  using rocksdb_plugin::SstIndex;
  const TempDir dir;
  const rocksdb_plugin::SstPlace sst{rocksdb::FileSystem::Default(), dir / "000012.sst"};
  const std::string index_property = rocksdb_plugin::kIndexProperty;
  const std::string text = "a text that is too long to be kept inside of a string";
  std::vector<std::pair<std::string, std::string>> rows;
  for (uint64_t i = 0; i < 100; ++i) rows.emplace_back(Key(i), Value(i, text));
  for (const bool in_sidecar : {false, true}) {
    settings_.max_property_bytes = in_sidecar ? 0 : UINT64_MAX;
    const auto collect = [&] {
      rocksdb::UserCollectedProperties properties;
      std::unique_ptr<rocksdb::TablePropertiesCollector> collector;
      try {
        collector = rocksdb_plugin::NewSkipIndexCollector(
            settings_, in_sidecar ? std::optional(sst) : std::nullopt, nullptr);
      } catch (const std::bad_alloc&) {
        return properties;
      }
      for (const auto& [key, value] : rows) {
        EXPECT_TRUE(collector->AddUserKey(key, value, rocksdb::kEntryPut, 1, 0).ok());
      }
      for (int times = 0; times < 2; ++times) {  // like RocksDB
        properties.clear();
        EXPECT_TRUE(collector->Finish(&properties).ok());
      }
      EXPECT_EQ(collector->GetReadableProperties().count(index_property), 0u);
      return properties;
    };
    uint64_t whole = 0;
    uint64_t without = 0;
    FailEachAllocation(collect, [&](const auto& collected, bool failed) {
      auto properties = std::make_shared<rocksdb::TableProperties>();
      properties->user_collected_properties = collected;
      const SstIndex index(properties, sst, std::nullopt);
      EXPECT_TRUE(failed || (index.index() != nullptr && index.is_in_sidecar() == in_sidecar))
          << index.problem();
      if (index.index() != nullptr) {
        EXPECT_EQ(index.index()->num_rows(), rows.size());
      }
      ++(index.index() != nullptr ? whole : without);
      rocksdb_plugin::DeleteSidecar(sst.file_system.get(), sst.path);  // no SST has one yet
    });
    EXPECT_GT(whole, 1u);
    EXPECT_GT(without, 50u);
  }
  EXPECT_NE(log_->text().find("scans read it as a whole; reason: out of memory"),
            std::string::npos);
}

TEST_F(SkipIndexAllocationFailureTest, OpeningIndexesIsRetried) {
  TestDb db(config_);
  Fill(&db.db());
  const std::shared_ptr<const rocksdb::TableProperties> properties =
      FilesOf(db.db()).begin()->second;
  std::optional<rocksdb_plugin::SkipIndexCatalog> catalog(std::in_place, 1 << 20);
  uint64_t kept = 0;
  FailEachAllocation(
      [&]() -> std::shared_ptr<const rocksdb_plugin::SstIndex> {
        try {
          return catalog->Open(properties);
        } catch (const std::bad_alloc&) {
          return nullptr;
        }
      },
      [&](const auto& index, bool failed) {
        EXPECT_TRUE(failed || (index != nullptr && index->index() != nullptr));
        EXPECT_NE(catalog->Open(properties)->index(), nullptr) << "with memory";
        kept += catalog->used_bytes() != 0;
        catalog.emplace(1 << 20);  // so that the next attempt opens it again
      });
  EXPECT_GT(kept, 10u);
}

struct Scanned {
  rocksdb::Status status;
  uint64_t num_rows = 0;
  uint64_t sum = 0;  // sum of hashes
};

class ScanAllocationFailureTest : public SkipIndexAllocationFailureTest,
                                  public ::testing::WithParamInterface<bool> {};

INSTANTIATE_TEST_SUITE_P(IndexesIn, ScanAllocationFailureTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Sidecars" : "Properties"; });

TEST_P(ScanAllocationFailureTest, ReturnsItsRowsOrAnError) {
  settings_.max_property_bytes = GetParam() ? 0 : UINT64_MAX;
  config_ = SkipConfig(settings_);
  config_.options.listeners = {NewListener()};
  config_.table.filter_policy = NewPolicy({.kind = FilterKind::kAuto});
  TestDb db(config_);
  Fill(&db.db());
  for (uint64_t i = 0; i < 200; i += 7) MustBeOk(db->Put({}, Key(i), Value(i % 5)));
  MustBeOk(db->Flush({}));
  for (uint64_t i = 0; i < 200; i += 11) MustBeOk(db->Put({}, Key(i), Value(3)));

  const Predicate predicate = Is("n = 3 OR t HAS 'nothing'");
  for (const bool use_index : {true, false}) {
    for (const bool reverse : {false, true}) {
      SkipScanOptions options = AlwaysSkip();
      options.use_index = use_index;
      options.reverse = reverse;
      const auto scan_all = [&] {
        Scanned scanned;
        std::unique_ptr<SkipScan> scan;
        scanned.status = SkipScan::Create(&db.db(), nullptr, predicate, options, &scan);
        if (!scanned.status.ok()) return scanned;
        for (; scan->Valid(); scan->Next()) {
          ++scanned.num_rows;
          scanned.sum +=
              HashKey(scan->key().ToStringView()) ^ HashKey(scan->value().ToStringView());
        }
        scanned.status = scan->status();
        return scanned;
      };
      const Scanned expected = scan_all();
      ASSERT_TRUE(expected.status.ok());
      ASSERT_GT(expected.num_rows, 20u);
      uint64_t errors = 0;
      FailEachAllocation(scan_all, [&](const Scanned& scanned, bool failed) {
        if (!scanned.status.ok()) {
          EXPECT_TRUE(failed);
          EXPECT_TRUE(scanned.status.IsMemoryLimit()) << scanned.status.ToString();
          ++errors;
          return;
        }
        EXPECT_EQ(scanned.num_rows, expected.num_rows);
        EXPECT_EQ(scanned.sum, expected.sum);
      });
      EXPECT_GT(errors, use_index ? 50u : 4u);
    }
  }
}

TEST_F(SkipIndexAllocationFailureTest, CallsReportAnError) {
  TestDb db(config_);
  Fill(&db.db());
  const auto expect_error = [](const rocksdb::Status& status, bool failed) {
    EXPECT_TRUE(status.ok() ? true : failed && status.IsMemoryLimit()) << status.ToString();
  };
  const EnableOptions features = {.prefixes = "fields:len8,2,len32,8*",
                                  .columns = {"a=field:1"},
                                  .carrier = Carrier::kFilterAndSidecar};
  rocksdb::Options options;
  const auto enable = [&] { return Enable(&options, features); };
  MustBeOk(enable());  // registers with RocksDB, once
  EXPECT_GT(FailEachAllocation(enable, expect_error), 5u);
  EXPECT_GT(FailEachAllocation([&] { return RebuildSkipIndexes(&db.db(), {}); }, expect_error), 5u);
}

}  // namespace
}  // namespace blocksieve
