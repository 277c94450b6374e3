#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "blocksieve/filter_block.h"
#include "blocksieve/rocksdb/filter_policy.h"
#include "tests/support/built_filter.h"
#include "tests/support/key_sets.h"
#include "tests/support/logs.h"

// The builder, called as RocksDB calls it, through its own interface.

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

class BitsBuilder : public ::testing::Test {
 protected:
  explicit BitsBuilder(double target_fpr = 0.01) {
    FilterPolicyOptions options;
    options.target_fpr = target_fpr;
    policy_ = NewFilterPolicy(options);
    builder_ = NewBuilder(*policy_);
  }

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

  std::shared_ptr<const rocksdb::FilterPolicy> policy_;
  std::unique_ptr<rocksdb::FilterBitsBuilder> builder_;
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
  // tests/PITFALLS.md, 1 and 4: whole key and prefix, both, in the order k, p, k, p.
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
  // The hash has a way of its own for each range of lengths; builder and reader have to agree.
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
  // And the builder goes on.
  Add({"a"});
  EXPECT_EQ(Matches(Finish(builder_.get()), {"a"}), 1u);
}

TEST_F(BitsBuilder, FinishWithoutAStatusBuildsTheSame) {
  const auto keys = PresentKeys(KeyShape::kUrl, 100);
  Add(keys);
  const BuiltFilter with_status = Finish(builder_.get());
  Add(keys);
  std::unique_ptr<const char[]> memory;
  const rocksdb::Slice without = builder_->Finish(&memory);
  EXPECT_EQ(without, with_status.contents);
}

// Stock RocksDB of any version must see "always may match".
TEST_F(BitsBuilder, EveryFilterEndsInFiveZeroBytes) {
  for (uint64_t count = 0; count < 3000; count = count * 3 / 2 + 1) {
    Add(PresentKeys(KeyShape::kCounter, count));
    const BuiltFilter filter = Finish(builder_.get());
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

}  // namespace
}  // namespace blocksieve
