#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "blocksieve/filter.h"
#include "blocksieve/rocksdb/filter_policy.h"
#include "lib/block/filter_info.h"
#include "tests/support/built_filter.h"
#include "tests/support/key_sets.h"
#include "tests/support/param_names.h"

// The builder, called as RocksDB calls it, through its own interface.

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

class BitsBuilder : public ::testing::Test {
 protected:
  void Add(const std::vector<std::string>& keys) {
    for (const std::string& key : keys) builder_->AddKey(key);
  }

  size_t Matches(const BuiltFilter& filter, const std::vector<std::string>& keys) const {
    return CountMatches(*policy_, filter, keys);
  }

  static uint64_t KeysIn(const BuiltFilter& filter) {
    const Result<FilterInfo> info =
        DescribeFilterBlock(AsBytes({filter.contents.data(), filter.contents.size()}));
    EXPECT_TRUE(info.ok()) << info.status().message();
    return info.ok() ? info->num_keys : UINT64_MAX;
  }

  const std::shared_ptr<const rocksdb::FilterPolicy> policy_ =
      *NewFilterPolicy({.target_fpr = 0.01});
  const std::unique_ptr<rocksdb::FilterBitsBuilder> builder_ = NewBuilder(*policy_);
};

struct Entries {
  const char* what;
  std::vector<std::string> added;
};

std::vector<Entries> AwkwardEntries() {
  // tests/PITFALLS.md, 1: "nothing yet" must not be mistaken for a key. And 11: Slices are passed
  // whole.
  std::vector<Entries> cases = {
      {"the empty key", {""}},
      {"awkward keys", AwkwardKeys()},
      {"many versions of a key", std::vector<std::string>(1000, "key")},
      {"keys that equal their prefixes", {"abc", "abc", "abcd", "abc", "abd", "abd"}}};
  // tests/PITFALLS.md, 1 and 4: whole keys and prefixes, in the order k, p, k, p.
  Entries prefixes{"keys and prefixes", {}};
  for (uint64_t group = 0; group < 50; ++group) {
    for (uint64_t member = 0; member < 20; ++member) {
      prefixes.added.push_back(GroupKey(group, member));
      prefixes.added.push_back(GroupPrefix(group));
    }
  }
  Entries empty_prefixes{"keys and empty prefixes", {}};
  for (const std::string& key : PresentKeys(KeyShape::kUrl, 500)) {
    empty_prefixes.added.insert(empty_prefixes.added.end(), {key, ""});
  }
  // The hash handles each range of lengths differently; builder and reader must agree.
  Entries lengths{"keys of every length", {}};
  for (size_t length = 0; length <= 1100; ++length) {
    lengths.added.emplace_back(length, static_cast<char>('a' + length % 26));
  }
  cases.insert(cases.end(), {prefixes, empty_prefixes, lengths});
  return cases;
}

TEST_F(BitsBuilder, EveryEntryIsFoundAndCountsOnce) {
  for (const auto& [what, added] : AwkwardEntries()) {
    SCOPED_TRACE(what);
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
TEST_F(BitsBuilder, FinishForgetsTheLastKeys) {
  std::vector<std::string> keys = AwkwardKeys();
  keys.insert(keys.end(), {"user", "user", "user", "", "", ""});
  for (const std::string& key : keys) {
    Add({key, key});
    EXPECT_EQ(builder_->EstimateEntriesAdded(), 1u);
    EXPECT_EQ(Matches(Finish(builder_.get()), {key}), 1u) << key;
    EXPECT_EQ(builder_->EstimateEntriesAdded(), 0u);
  }
}

// tests/PITFALLS.md, 3: at a cut RocksDB adds the prefix of the next key to the partition before.
TEST_F(BitsBuilder, APrefixAtACutIsInBothPartitions) {
  Add({"a1", "a", "a2", "a", "b"});  // b: the next key's prefix
  EXPECT_EQ(Matches(Finish(builder_.get()), {"a1", "a2", "a", "b"}), 4u);
  Add({"b1", "b", "b2", "b"});
  EXPECT_EQ(Matches(Finish(builder_.get()), {"b1", "b2", "b"}), 3u);
  // Newer versions add the previous prefix after Finish.
  Add({"b", "c1", "c"});
  EXPECT_EQ(Matches(Finish(builder_.get()), {"b", "c1", "c"}), 3u);
}

// tests/PITFALLS.md, 5: partitioned filters may be finished with no entries.
TEST_F(BitsBuilder, NoKeysMakeAFilterThatIsNotEmpty) {
  EXPECT_EQ(builder_->EstimateEntriesAdded(), 0u);
  const BuiltFilter filter = Finish(builder_.get());
  EXPECT_TRUE(filter.status.ok());
  EXPECT_GE(filter.contents.size(), 6u);
  EXPECT_EQ(Matches(filter, PresentKeys(KeyShape::kUrl, 100)), 0u);
  // The builder can be used again.
  Add({"a"});
  EXPECT_EQ(Matches(Finish(builder_.get()), {"a"}), 1u);
}

TEST_F(BitsBuilder, FinishWithoutAStatusBuildsTheSame) {
  const auto keys = PresentKeys(KeyShape::kUrl, 100);
  const BuiltFilter with_status = Build(builder_.get(), keys);
  Add(keys);
  std::unique_ptr<const char[]> memory;
  const rocksdb::Slice without = builder_->Finish(&memory);
  EXPECT_EQ(without, with_status.contents);
}

// Stock RocksDB of any version must see "always may match".
TEST_F(BitsBuilder, EveryFilterEndsInFiveZeroBytes) {
  for (uint64_t count = 0; count < 3000; count = count * 3 / 2 + 1) {
    const BuiltFilter filter = Build(builder_.get(), PresentKeys(KeyShape::kCounter, count));
    ASSERT_GE(filter.contents.size(), 6u);
    // They start inside the allocation, so that lines can be aligned.
    ASSERT_GE(filter.contents.data(), filter.memory.get());
    ASSERT_LT(filter.contents.data(), filter.memory.get() + 64);
    const rocksdb::Slice tail(filter.contents.data() + filter.contents.size() - 5, 5);
    ASSERT_EQ(tail, rocksdb::Slice("\0\0\0\0\0", 5)) << count;
    const std::unique_ptr<const rocksdb::FilterPolicy> stock(rocksdb::NewBloomFilterPolicy(10));
    const auto probes = AbsentKeys(KeyShape::kCounter, 100);
    ASSERT_EQ(CountMatches(*stock, filter, probes), probes.size()) << count;
  }
}

// The sizes that the builder reports to RocksDB, which cuts partitions by them.
class BitsBuilderSizes : public ::testing::TestWithParam<double> {
 protected:
  size_t BuiltSize(size_t num_keys) {
    return Build(builder_.get(), PresentKeys(KeyShape::kCounter, num_keys)).contents.size();
  }

  const std::shared_ptr<const rocksdb::FilterPolicy> policy_ =
      *NewFilterPolicy({.target_fpr = GetParam(), .kind = PolicyKind::kBloom});
  std::unique_ptr<rocksdb::FilterBitsBuilder> builder_ = NewBuilder(*policy_);
};

TEST_P(BitsBuilderSizes, CalculateSpaceIsTheSizeOfFinish) {
  for (size_t keys = 0; keys < 30000; keys = keys * 5 / 3 + 1) {
    ASSERT_EQ(builder_->CalculateSpace(keys), BuiltSize(keys)) << keys;
  }
}

// A filter fills the rest of its allocation, and the gain lets a later filter be smaller. The rest
// depends on earlier allocations, so the sizes are only approximately as reported.
TEST_P(BitsBuilderSizes, CalculateSpaceIncludesMemoryFit) {
  rocksdb::BlockBasedTableOptions table_options;
  table_options.optimize_filters_for_memory = true;
  builder_ = NewBuilder(*policy_, table_options);
  for (size_t keys = 0; keys < 30000; keys = keys * 5 / 3 + 1) {
    const auto expected = static_cast<double>(builder_->CalculateSpace(keys));
    ASSERT_NEAR(static_cast<double>(BuiltSize(keys)), expected, 0.1 * expected + 128) << keys;
  }
}

TEST_P(BitsBuilderSizes, ApproximateNumEntriesIsTheMaximumThatFits) {
  for (size_t bytes = 0; bytes < 400000; bytes = bytes * 11 / 10 + 1) {
    const size_t keys = builder_->ApproximateNumEntries(bytes);
    if (keys > 0) {
      ASSERT_LE(builder_->CalculateSpace(keys), bytes) << bytes;
    }
    ASSERT_GT(builder_->CalculateSpace(keys + 1), bytes) << bytes;
  }
}

// tests/PITFALLS.md, 10: sizes near 4 GiB and beyond, arithmetically.
TEST_P(BitsBuilderSizes, HugeSizesDoNotWrapAround) {
  for (const size_t keys : {size_t{1} << 30, size_t{1} << 31, size_t{1} << 32, size_t{1} << 33}) {
    const size_t bytes = builder_->CalculateSpace(keys);
    EXPECT_GT(bytes, keys / 8) << keys;
    EXPECT_NEAR(static_cast<double>(bytes),
                2 * static_cast<double>(builder_->CalculateSpace(keys / 2)), 300)
        << keys;
  }
  const size_t half = builder_->ApproximateNumEntries(size_t{1} << 32);
  const size_t whole = builder_->ApproximateNumEntries(size_t{1} << 33);
  EXPECT_NEAR(static_cast<double>(whole), 2 * static_cast<double>(half), 1000);
}

TEST_P(BitsBuilderSizes, EstimatedFpRateAgreesWithTheTarget) {
  for (const size_t keys : {1000, 10000, 1000000}) {
    const double fpr = builder_->EstimatedFpRate(keys, builder_->CalculateSpace(keys));
    EXPECT_LE(fpr, GetParam()) << keys;
    EXPECT_GE(fpr, GetParam() * 0.7) << keys;
  }
  EXPECT_EQ(builder_->EstimatedFpRate(0, 1000), 0);
}

// The size of a ribbon depends on its keys, so the reported size is close, not exact.
class RibbonBuilderSizes : public ::testing::TestWithParam<double> {};

TEST_P(RibbonBuilderSizes, PartitionsHaveTheRequestedSize) {
  const auto policy = *NewFilterPolicy({.target_fpr = GetParam(), .kind = PolicyKind::kRibbon});
  const auto builder = NewBuilder(*policy);
  for (size_t bytes = 200; bytes < 200000; bytes = bytes * 3 / 2) {
    const size_t keys = builder->ApproximateNumEntries(bytes);
    ASSERT_GT(keys, 0u) << bytes;
    const BuiltFilter filter = Build(builder.get(), PresentKeys(KeyShape::kCounter, keys));
    const double size = static_cast<double>(filter.contents.size());
    EXPECT_LE(size, 1.01 * static_cast<double>(bytes) + 8) << keys;
    EXPECT_GE(size, 0.97 * static_cast<double>(bytes) - 8) << keys;
    EXPECT_NEAR(static_cast<double>(builder->CalculateSpace(keys)), size, 0.01 * size + 8);
    const double fpr = builder->EstimatedFpRate(keys, bytes);
    EXPECT_GE(fpr, GetParam() * 0.85) << keys;
    if (bytes > 1000) {  // the estimate leaves room for differences between keys
      EXPECT_LE(fpr, GetParam() * 1.25) << keys;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, RibbonBuilderSizes, ::testing::Values(0.3, 0.01, 1e-5));

INSTANTIATE_TEST_SUITE_P(Targets, BitsBuilderSizes, ::testing::Values(0.5, 0.1, 0.01, 1e-4, 1e-6),
                         ParamNames());

// The reader, called as RocksDB calls it.

class BitsReader : public ::testing::Test {
 protected:
  std::shared_ptr<const rocksdb::FilterPolicy> policy_ = *NewFilterPolicy(FilterPolicyOptions());
  const std::vector<std::string> present_ = PresentKeys(KeyShape::kUrl, 2000);
  const std::vector<std::string> absent_ = AbsentKeys(KeyShape::kUrl, 2000);

  bool MayMatchEverything(const std::string& contents) const {
    const auto reader = NewReader(*policy_, contents);
    return CountMatches(reader.get(), present_) == present_.size() &&
           CountMatches(reader.get(), absent_) == absent_.size();
  }
};

// MultiGet probes 0 to 32 keys at once.
TEST_F(BitsReader, BatchesWriteEveryAnswerAndNoMore) {
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

TEST_F(BitsReader, BatchesOfUnreadableFiltersWriteEveryAnswer) {
  for (const std::string& contents : {std::string(), std::string(20, '\0'), std::string(3, 'x')}) {
    const auto reader = NewReader(*policy_, contents);
    std::vector<rocksdb::Slice> keys(present_.begin(), present_.begin() + 40);
    std::vector<rocksdb::Slice*> pointers;
    for (rocksdb::Slice& key : keys) pointers.push_back(&key);
    unsigned char answers[40] = {};
    reader->MayMatch(40, pointers.data(), reinterpret_cast<bool*>(answers));
    for (const unsigned char answer : answers) EXPECT_EQ(answer, 1);
  }
}

// tests/PITFALLS.md, 14: RocksDB reads one to five bytes as "no keys", but a truncated filter looks
// the same.
TEST_F(BitsReader, ShortFiltersMayMatch) {
  for (size_t size = 0; size <= 5; ++size) {
    for (const char fill : {'\0', '\x01', '\x7f', '\xff', '\xfe'}) {
      EXPECT_TRUE(MayMatchEverything(std::string(size, fill))) << size;
    }
  }
}

TEST_F(BitsReader, TruncatedFiltersMayMatch) {
  const std::string filter = BuildFilter(*policy_, present_).contents.ToString();
  for (size_t size = 0;
       size<filter.size(); size += size> 40 && size + 80 < filter.size() ? 37 : 1) {
    // Truncated at either end; at the front, blocksieve's tail remains.
    const auto cut_behind = NewReader(*policy_, rocksdb::Slice(filter.data(), size));
    const auto cut_before =
        NewReader(*policy_, rocksdb::Slice(filter.data() + filter.size() - size, size));
    ASSERT_EQ(CountMatches(cut_before.get(), present_), present_.size()) << size;
    // A truncated filter that ends in a byte of 1 to 30 or -1 looks like a stock filter, and
    // RocksDB's reader answers as without blocksieve. The block checksum catches such a filter.
    const auto last = size < 5 ? 0 : static_cast<signed char>(filter[size - 5]);
    if (last == 0) {
      ASSERT_EQ(CountMatches(cut_behind.get(), present_), present_.size()) << size;
    }
  }
}

// The reserved values of RocksDB's trailer.
TEST_F(BitsReader, ReservedTrailersMayMatch) {
  for (int first = -128; first < -2; ++first) {
    std::string contents(100, '\x55');
    contents[contents.size() - 5] = static_cast<char>(first);
    EXPECT_TRUE(MayMatchEverything(contents)) << first;
  }
}

TEST_F(BitsReader, StockFiltersStillWork) {
  const std::unique_ptr<const rocksdb::FilterPolicy> policies[] = {
      std::unique_ptr<const rocksdb::FilterPolicy>(rocksdb::NewBloomFilterPolicy(10)),
      std::unique_ptr<const rocksdb::FilterPolicy>(rocksdb::NewRibbonFilterPolicy(10, -1)),
  };
  for (const auto& stock : policies) {
    const BuiltFilter filter = BuildFilter(*stock, present_);
    EXPECT_EQ(CountMatches(*policy_, filter, present_), present_.size());
    EXPECT_LT(CountMatches(*policy_, filter, absent_), 60u);
    EXPECT_EQ(CountMatches(*policy_, filter, absent_), CountMatches(*stock, filter, absent_));
  }
}

}  // namespace
}  // namespace blocksieve
