#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "blocksieve/rocksdb/filter_policy.h"
#include "tests/support/built_filter.h"
#include "tests/support/key_sets.h"

// The reader, called as RocksDB calls it.

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

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
