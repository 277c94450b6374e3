// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <rocksdb/cache.h>
#include <rocksdb/sst_file_writer.h>

#include "integration/rocksdb/compat/version_differences.h"
#include "tests/support/built_filter.h"
#include "tests/support/key_sets.h"
#include "tests/support/logs.h"
#include "tests/support/test_db.h"

// Flipped bits in memory, and short memory.

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

rocksdb::BlockBasedTableOptions Detecting() {
  rocksdb::BlockBasedTableOptions table_options;
  table_options.detect_filter_construct_corruption = true;
  return table_options;
}

// tests/PITFALLS.md, 8.
class PostVerifyTest : public ::testing::Test {
 protected:
  PostVerifyTest() : policy_(NewPolicy()), builder_(NewBuilder(*policy_, Detecting())) {}

  std::string BuildText(const std::vector<std::string>& keys) {
    return Build(builder_.get(), keys).contents.ToString();
  }
  std::string BuildText(uint64_t num_keys) {
    return BuildText(PresentKeys(KeyShape::kUrl, num_keys));
  }

  std::shared_ptr<const rocksdb::FilterPolicy> policy_;
  std::unique_ptr<rocksdb::FilterBitsBuilder> builder_;
};

TEST_F(PostVerifyTest, FindsEveryFlippedBit) {
  for (const uint64_t num_keys : {0, 1, 5000}) {
    EXPECT_TRUE(builder_->MaybePostVerify(BuildText(num_keys)).ok()) << num_keys;
  }
  const std::string filter = BuildText(100);
  for (size_t bit = 0; bit < 8 * filter.size(); ++bit) {
    std::string damaged = filter;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    ASSERT_TRUE(builder_->MaybePostVerify(damaged).IsCorruption()) << "bit " << bit;
  }
  EXPECT_TRUE(builder_->MaybePostVerify(filter).ok());
  // It became one that always may match.
  for (const std::string& always : {std::string(filter.size(), '\0'), std::string(6, '\0'),
                                    std::string(filter.size(), '\xff')}) {
    EXPECT_TRUE(builder_->MaybePostVerify(always).IsCorruption());
  }
}

class BuildBudgetTest : public ::testing::Test {
 protected:
  BuiltFilter BuildWithin(uint64_t max_build_bytes, uint64_t num_keys,
                          const rocksdb::BlockBasedTableOptions& table_options = {},
                          FilterKind kind = FilterKind::kBlockedBloom) {
    policy_ = NewPolicy({.kind = kind, .max_build_bytes = max_build_bytes});
    builder_ = NewBuilder(*policy_, table_options, &log_);
    return Add(num_keys);
  }

  BuiltFilter Add(uint64_t num_keys) {
    for (const std::string& key : PresentKeys(KeyShape::kCounter, num_keys)) builder_->AddKey(key);
    EXPECT_GT(builder_->EstimateEntriesAdded(), 0u);
    return Finish(builder_.get());
  }

  void ExpectAlwaysMayMatch(const BuiltFilter& filter) {
    EXPECT_TRUE(filter.status.ok()) << "RocksDB asserts that it is OK or Corruption";
    EXPECT_GE(filter.contents.size(), 6u) << "RocksDB reads fewer as always-false";
    const auto keys = PresentKeys(KeyShape::kCounter, 100);
    EXPECT_EQ(CountMatches(*policy_, filter, keys), keys.size());
    const std::unique_ptr<const rocksdb::FilterPolicy> stock(rocksdb::NewBloomFilterPolicy(10));
    EXPECT_EQ(CountMatches(*stock, filter, keys), keys.size());
  }

  void ExpectFiltered(const BuiltFilter& filter) {
    EXPECT_LT(CountMatches(*policy_, filter, AbsentKeys(KeyShape::kCounter, 10000)), 200u);
  }

  MemoryLogger log_;
  std::shared_ptr<const rocksdb::FilterPolicy> policy_;
  std::unique_ptr<rocksdb::FilterBitsBuilder> builder_;
};

TEST_F(BuildBudgetTest, WithinItTheFilterIsBuilt) {
  ExpectFiltered(BuildWithin(1000000, 50000));
  const BuiltFilter ribbon = BuildWithin(2200000, 100000, {}, FilterKind::kRibbon);
  EXPECT_LT(ribbon.contents.size(), 100000u * 7 / 8) << "a Bloom filter would take ten bits";
  EXPECT_THAT(log_.text(), Not(HasSubstr("reason")));
}

TEST_F(BuildBudgetTest, BeyondItTheFilterMayMatchEverythingAndTheLogSaysWhyOnceAFile) {
  for (const uint64_t budget : {1, 100, 1000}) ExpectAlwaysMayMatch(BuildWithin(budget, 200));
  ExpectAlwaysMayMatch(BuildWithin(100000, 50000));
  EXPECT_THAT(log_.text(), AllOf(HasSubstr("no filter written"), HasSubstr("50000 keys"),
                                 HasSubstr("max_build_bytes = 100000")));
  const std::string said = log_.text();
  for (int partition = 0; partition < 10; ++partition) ExpectAlwaysMayMatch(Add(50000));
  EXPECT_EQ(log_.text(), said);
}

// A ribbon takes working memory, and a copy of the hashes if they are kept to verify the filter.
TEST_F(BuildBudgetTest, ARibbonBeyondItBecomesBloomAndTheLogSaysWhy) {
  ExpectFiltered(BuildWithin(2200000, 100000, Detecting(), FilterKind::kRibbon));
  EXPECT_THAT(log_.text(),
              AllOf(HasSubstr("blocked Bloom filter written"), HasSubstr("max_build_bytes")));
}

// Building charged to a block cache by cache_usage_options.
class BuildChargeTest : public BuildBudgetTest {
 protected:
  static constexpr uint64_t kKeys = 200'000;

  rocksdb::BlockBasedTableOptions Charged(size_t capacity, bool is_strict) {
    cache_ = rocksdb::NewLRUCache(capacity, /*num_shard_bits=*/0, is_strict);
    rocksdb::BlockBasedTableOptions table = NotFittedToMemory();
    table.block_cache = cache_;
    table.cache_usage_options.options_overrides[rocksdb::CacheEntryRole::kFilterConstruction] = {
        .charged = rocksdb::CacheEntryRoleOptions::Decision::kEnabled};
    return table;
  }

  std::shared_ptr<rocksdb::Cache> cache_;
};

TEST_F(BuildChargeTest, HashesWorkingMemoryAndFiltersAreChargedUntilTheBuilderIsGone) {
  const BuiltFilter filter = BuildWithin(0, kKeys, Charged(64 << 20, false), FilterKind::kRibbon);
  EXPECT_GE(cache_->GetPinnedUsage(), filter.contents.size());
  EXPECT_LT(cache_->GetPinnedUsage(), filter.contents.size() + (512 << 10));
  for (const std::string& key : PresentKeys(KeyShape::kCounter, kKeys)) builder_->AddKey(key);
  EXPECT_GE(cache_->GetPinnedUsage(), filter.contents.size() + 7 * kKeys);
  builder_.reset();
  EXPECT_EQ(cache_->GetPinnedUsage(), 0u);
  EXPECT_THAT(log_.text(), Not(HasSubstr("reason")));
}

TEST_F(BuildChargeTest, ARibbonWithoutRoomBecomesBloomWhichIsBuiltInAnyCase) {
  for (const size_t capacity : {0, 2 << 20}) {
    const auto table = Charged(capacity, /*is_strict=*/true);
    ExpectFiltered(BuildWithin(0, kKeys, table, FilterKind::kRibbon));
    EXPECT_LE(cache_->GetPinnedUsage(), capacity);
    builder_.reset();
    EXPECT_EQ(cache_->GetPinnedUsage(), 0u);
  }
  EXPECT_THAT(log_.text(), AllOf(HasSubstr("blocked Bloom filter written"), HasSubstr("no room")));
  ExpectFiltered(BuildWithin(0, kKeys, Charged(64 << 20, true), FilterKind::kRibbon));
  EXPECT_LT(Add(kKeys).contents.size(), kKeys * 7 / 8) << "with room it is a ribbon";
}

TEST_F(BuildChargeTest, RocksDbOptionsEnableIt) {
  for (const bool ranges : {false, true}) {
    for (const bool is_charged : {false, true}) {
      rocksdb::BlockBasedTableOptions table = Charged(64 << 20, false);
      if (!is_charged) table.cache_usage_options = {};
      rocksdb::Options options;
      options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
      MustBeOk(Enable(
          &options, {.target_fpr = 0.01, .ranges = ranges, .carrier = Carrier::kFilterAndSidecar}));
      rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options);
      const TempDir dir;
      MustBeOk(writer.Open(dir / "1.sst"));
      for (uint64_t i = 1'000'000; i < 1'000'000 + kKeys; ++i) {
        MustBeOk(writer.Put("key " + std::to_string(i), ""));
      }
      const size_t least = ranges ? 20 * kKeys : 7 * kKeys;
      EXPECT_GE(cache_->GetPinnedUsage(), is_charged ? least : 0);
      EXPECT_LE(cache_->GetPinnedUsage(), is_charged ? 40 * kKeys : 0);
      MustBeOk(writer.Finish());
      EXPECT_EQ(cache_->GetPinnedUsage(), 0u);
    }
  }
}

}  // namespace
}  // namespace blocksieve
