// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <malloc.h>
#include <rocksdb/cache.h>
#include <rocksdb/sst_file_writer.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <set>

#include "blocksieve/filter.h"
#include "integration/rocksdb/compat/version_differences.h"
#include "tests/support/built_filter.h"
#include "tests/support/key_sets.h"
#include "tests/support/logs.h"
#include "tests/support/must.h"
#include "tests/support/test_db.h"

// The builder, called as RocksDB calls it, through its own interface.

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class BitsBuilderTest : public ::testing::Test {
 protected:
  void Add(const std::vector<std::string>& keys) {
    for (const std::string& key : keys) builder_->AddKey(key);
  }

  size_t Matches(const BuiltFilter& filter, const std::vector<std::string>& keys) const {
    return CountMatches(*policy_, filter, keys);
  }

  static uint64_t KeysIn(const BuiltFilter& filter) {
    return Must(DescribeFilter(AsBytes(filter.contents.ToStringView()))).num_keys;
  }

  const std::shared_ptr<const rocksdb::FilterPolicy> policy_ = NewPolicy({.target_fpr = 0.01});
  const std::unique_ptr<rocksdb::FilterBitsBuilder> builder_ = NewBuilder(*policy_);
};

// tests/PITFALLS.md, 1: "nothing yet" must not be mistaken for a key; 4: whole keys and prefixes,
// in the order k, p, k, p; and 11: Slices are passed whole. FilterConformanceTest has the keys that
// builders lose.
TEST_F(BitsBuilderTest, EveryEntryIsFoundAndCountsOnce) {
  std::vector<std::string> prefixes;
  for (const std::string& key : GroupKeys(0, 50, 20)) {
    prefixes.insert(prefixes.end(), {key, key.substr(0, kGroupPrefixBytes)});
  }
  std::vector<std::string> empty_prefixes;
  for (const std::string& key : PresentKeys(KeyShape::kUrl, 500)) {
    empty_prefixes.insert(empty_prefixes.end(), {key, ""});
  }
  const std::vector<std::string> equal = {"abc", "abc", "abcd", "abc", "abd", "abd"};
  const std::vector<std::string> versions(1000, "key");
  for (const auto& added : {AwkwardKeys(), equal, versions, prefixes, empty_prefixes}) {
    SCOPED_TRACE(added[1]);
    const std::set<std::string> distinct(added.begin(), added.end());
    Add(added);
    EXPECT_EQ(builder_->EstimateEntriesAdded(), distinct.size());
    const BuiltFilter filter = Finish(builder_.get());
    EXPECT_EQ(Matches(filter, added), added.size());
    EXPECT_EQ(KeysIn(filter), distinct.size());
  }
}

// tests/PITFALLS.md, 2: the builder serves all partitions of a file, and a key that continues in
// the next one belongs to both.
TEST_F(BitsBuilderTest, FinishForgetsTheLastKeys) {
  std::vector<std::string> keys = AwkwardKeys();
  keys.insert(keys.end(), {"user", "user", "user", "", "", ""});
  for (const std::string& key : keys) {
    Add({key, key});
    EXPECT_EQ(builder_->EstimateEntriesAdded(), 1u);
    EXPECT_EQ(Matches(Finish(builder_.get()), {key}), 1u) << key;
    EXPECT_EQ(builder_->EstimateEntriesAdded(), 0u);
  }
}

// RocksDB adds the empty prefix after each key. The first key of the file may itself be empty.
TEST_F(BitsBuilderTest, TheEmptyKeyIsInTheFilterOfKeysBesideRanges) {
  const auto policy = NewPolicy({.ranges = true});
  for (const bool has_empty_key : {false, true}) {
    std::vector<std::string> added = {"a", "", "b", ""};
    if (has_empty_key) added.insert(added.begin(), {"", ""});
    const BuiltFilter filter = BuildFilter(*policy, added);
    const Filter keys = Filter::Open(AsBytes({filter.contents.data(), filter.contents.size()}));
    EXPECT_TRUE(keys.MayContain("a") && keys.MayContain("b"));
    EXPECT_EQ(keys.MayContain(""), has_empty_key);
  }
}

// RocksDB cuts partitions by these sizes. They are those of the core (BuilderConformance), except
// that a filter fills the rest of its allocation if it is fitted to memory: the rest depends on
// earlier allocations, so the size is only approximate.
TEST(BitsBuilderSizesTest, AreThoseOfFiltersAlsoIfTheyAreFittedToMemory) {
  constexpr double kTarget = 0.01;
  for (const FilterKind kind : {FilterKind::kBlockedBloom, FilterKind::kRibbon}) {
    for (const bool is_fitted : {false, true}) {
      rocksdb::BlockBasedTableOptions table_options;
      table_options.optimize_filters_for_memory = is_fitted;
      const auto policy = NewPolicy({.target_fpr = kTarget, .kind = kind});
      const auto builder = NewBuilder(*policy, table_options);
      for (size_t bytes = 400; bytes < 200'000; bytes = bytes * 3 / 2) {
        const size_t keys = builder->ApproximateNumEntries(bytes);
        const auto space = static_cast<double>(builder->CalculateSpace(keys));
        const BuiltFilter filter = Build(builder.get(), PresentKeys(KeyShape::kCounter, keys));
        const auto size = static_cast<double>(filter.contents.size());
        EXPECT_NEAR(size, space, is_fitted ? 0.1 * space + 128 : 0.01 * space + 8) << keys;
        EXPECT_NEAR(size, static_cast<double>(bytes), 0.1 * size + 128) << keys;
        const double fpr = builder->EstimatedFpRate(keys, bytes);
        EXPECT_GE(fpr, 0.7 * kTarget) << keys;
        EXPECT_LE(fpr, 1.25 * kTarget) << keys;
      }
      EXPECT_EQ(builder->EstimatedFpRate(0, 1000), 0);
    }
  }
}

// The reader, called as RocksDB calls it.

class BitsReaderTest : public ::testing::Test {
 protected:
  std::shared_ptr<const rocksdb::FilterPolicy> policy_ = NewPolicy();
  const std::vector<std::string> present_ = PresentKeys(KeyShape::kUrl, 2000);
  const std::vector<std::string> absent_ = AbsentKeys(KeyShape::kUrl, 2000);

  // One by one, and in a batch.
  bool MayMatchEverything(const std::string& contents) const {
    const auto reader = NewReader(*policy_, contents);
    std::vector<rocksdb::Slice> keys(absent_.begin(), absent_.begin() + 40);
    std::vector<rocksdb::Slice*> pointers;
    for (rocksdb::Slice& key : keys) pointers.push_back(&key);
    bool answers[40] = {};
    reader->MayMatch(40, pointers.data(), answers);
    return CountMatches(reader.get(), present_) == present_.size() &&
           CountMatches(reader.get(), absent_) == absent_.size() &&
           std::count(answers, answers + 40, true) == 40;
  }
};

// MultiGet probes 0 to 32 keys at once.
TEST_F(BitsReaderTest, BatchesWriteEveryAnswerAndNoMore) {
  const BuiltFilter filter = BuildFilter(*policy_, present_);
  const auto reader = NewReader(*policy_, filter.contents);
  std::mt19937 random(3);
  for (int round = 0; round < 20; ++round) {
    for (int count = 0; count <= 40; ++count) {
      std::vector<rocksdb::Slice> keys;
      std::vector<rocksdb::Slice*> pointers;
      for (int i = 0; i < count; ++i) {
        const auto& set = random() % 2 == 0 ? present_ : absent_;
        keys.emplace_back(set[random() % set.size()]);
        // The empty key is the prefix of all keys, which a filter of whole keys does not have.
        if (random() % 8 == 0) keys.back().clear();
      }
      for (rocksdb::Slice& key : keys) pointers.push_back(&key);
      // Neither true nor false, so that unwritten answers show.
      alignas(bool) unsigned char answers[42];
      std::memset(answers, 0x5a, sizeof(answers));
      reader->MayMatch(count, pointers.data(), reinterpret_cast<bool*>(answers));
      for (int i = 0; i < count; ++i) {
        const auto at = static_cast<size_t>(i);
        ASSERT_EQ(answers[i], reader->MayMatch(keys[at]) ? 1 : 0) << i << " of " << count;
      }
      for (int i = count; i < 42; ++i) ASSERT_EQ(answers[i], 0x5a) << i << " of " << count;
    }
  }
}

// RocksDB charges no reader to its cache, and with partitions there are many.
TEST_F(BitsReaderTest, OfKeysIsSmall) {
  // Up to eight probes, and more: the entry points of each belong to a class.
  for (const double target_fpr : {0.01, 1e-5, 0.001}) {
    for (const FilterKind kind : {FilterKind::kBlockedBloom, FilterKind::kRibbon}) {
      const auto policy = NewPolicy({.target_fpr = target_fpr, .kind = kind});
      const BuiltFilter filter = BuildFilter(*policy, present_);
      const auto reader = NewReader(*policy, filter.contents);
      EXPECT_EQ(CountMatches(reader.get(), present_), present_.size());
      EXPECT_LE(CountMatches(reader.get(), absent_), absent_.size() / 30) << target_fpr;
      // Malloc adds eight bytes, and 16 where that leaves no room for another object.
      std::vector<std::unique_ptr<rocksdb::FilterBitsReader>> readers;
      size_t smallest = SIZE_MAX;
      while (readers.size() < 16) {
        readers.push_back(NewReader(*policy, filter.contents));
        smallest = std::min(smallest, malloc_usable_size(readers.back().get()));
      }
      EXPECT_LE(smallest, kind == FilterKind::kBlockedBloom ? 24u : 56u);
    }
  }
}

// tests/PITFALLS.md, 14: RocksDB reads one to five bytes as "no keys", but a truncated filter looks
// the same. And the reserved values of RocksDB's trailer, and its "always may match", 0.
TEST_F(BitsReaderTest, ShortFiltersAndReservedTrailersMayMatch) {
  for (size_t size = 0; size <= 5; ++size) {
    for (const char fill : {'\0', '\x01', '\x7f', '\xff', '\xfe'}) {
      EXPECT_TRUE(MayMatchEverything(std::string(size, fill))) << size;
    }
  }
  for (int first = -128; first <= 0; first += first == -3 ? 3 : 1) {
    std::string contents(100, '\x55');
    contents[contents.size() - 5] = static_cast<char>(first);
    EXPECT_TRUE(MayMatchEverything(contents)) << first;
  }
}

// Flipped bits in memory, and short memory.

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
