#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/support/db_checks.h"
#include "tests/support/key_sets.h"
#include "tests/support/test_db.h"

// Iterators and prefix filters.

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

class Iterators : public ::testing::TestWithParam<FilterShape> {
 protected:
  static constexpr uint64_t kGroups = 90;

  // Groups of even numbers, every third in a file of its own, over three files and two levels.
  Iterators() : db_(Config()) {
    for (uint64_t file = 0; file < 3; ++file) {
      for (uint64_t group = file; group < kGroups; group += 3) {
        for (uint64_t member = 0; member < 6; ++member) {
          db_.Put(GroupKey(2 * group, member), std::string(60, 'v'));
        }
      }
      db_.Flush();
      if (file == 0) db_.Compact();
    }
    db_.ResetUse();
  }

  static DbConfig Config() {
    DbConfig config = MakeConfig(GetParam(), PolicyFromString("blocksieve:0.001"));
    UsePrefixes(&config, kGroupPrefixBytes);
    return config;
  }

  TestDb db_;
};

// tests/PITFALLS.md, 26.
TEST_P(Iterators, GoOnAfterAFilteredFile) {
  rocksdb::ReadOptions within_prefix;
  within_prefix.prefix_same_as_start = true;
  const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(within_prefix));
  for (uint64_t group = 0; group < kGroups; ++group) {
    it->Seek(GroupPrefix(2 * group + 1));
    EXPECT_FALSE(it->Valid()) << group;
    EXPECT_TRUE(it->status().ok()) << it->status().ToString();
    it->Seek(GroupPrefix(2 * group));
    ASSERT_TRUE(it->Valid()) << group;
    EXPECT_EQ(it->key(), GroupKey(2 * group, 0));
    it->SeekForPrev(GroupPrefix(2 * group + 1) + "/9");
    EXPECT_FALSE(it->Valid()) << group;
    it->SeekForPrev(GroupKey(2 * group, 9999));
    ASSERT_TRUE(it->Valid()) << group;
    EXPECT_EQ(it->key(), GroupKey(2 * group, 5));
  }
  EXPECT_GT(db_.Use().prefix_rejected, 0u);
}

TEST_P(Iterators, ChangeDirectionInAFilteredPrefix) {
  const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator({}));
  for (uint64_t group = 0; group < kGroups; ++group) {
    it->Seek(GroupKey(2 * group, 3));
    ASSERT_TRUE(it->Valid());
    it->Prev();
    ASSERT_TRUE(it->Valid());
    EXPECT_EQ(it->key(), GroupKey(2 * group, 2));
    it->Next();
    it->Next();
    ASSERT_TRUE(it->Valid());
    EXPECT_EQ(it->key(), GroupKey(2 * group, 4));
  }
}

// tests/PITFALLS.md, 21: a range that leaves the prefix of its start.
TEST_P(Iterators, ARangeBeyondThePrefixIsNotFiltered) {
  rocksdb::ReadOptions total_order;
  total_order.total_order_seek = true;
  rocksdb::ReadOptions automatic;
  automatic.auto_prefix_mode = true;
  for (const rocksdb::ReadOptions& read_options : {total_order, automatic}) {
    for (uint64_t group = 0; group + 1 < kGroups; ++group) {
      // From an absent prefix on, to the end of the next group.
      const std::string bound_text = GroupPrefix(2 * group + 3);
      const rocksdb::Slice bound(bound_text);
      rocksdb::ReadOptions bounded = read_options;
      bounded.iterate_upper_bound = &bound;
      const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(bounded));
      int found = 0;
      for (it->Seek(GroupPrefix(2 * group + 1)); it->Valid(); it->Next()) ++found;
      ASSERT_EQ(found, 6) << "group " << group;
    }
  }
}

// With auto_prefix_mode, RocksDB filters where the bound stays within the prefix.
TEST_P(Iterators, ARangeWithinAnAbsentPrefixIsFiltered) {
  db_.ResetUse();
  for (uint64_t group = 0; group < kGroups; ++group) {
    const std::string bound_text = GroupPrefix(2 * group + 1) + "/9";
    const rocksdb::Slice bound(bound_text);
    rocksdb::ReadOptions automatic;
    automatic.auto_prefix_mode = true;
    automatic.iterate_upper_bound = &bound;
    const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(automatic));
    it->Seek(GroupPrefix(2 * group + 1));
    EXPECT_FALSE(it->Valid());
    EXPECT_TRUE(it->status().ok());
  }
  EXPECT_GT(db_.Use().prefix_rejected, kGroups / 2);
}

INSTANTIATE_TEST_SUITE_P(Shapes, Iterators, kBothShapes, ParamNames());

}  // namespace
}  // namespace blocksieve
