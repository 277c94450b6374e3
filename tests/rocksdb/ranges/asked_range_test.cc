#include "integration/rocksdb/ranges/asked_range.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <thread>

// Which question a range belongs to: the last two keys on the thread, and of the first of them is
// the prefix that is asked for.

namespace blocksieve::rocksdb_plugin {
namespace {

class AskedRangeTest : public ::testing::Test {
 protected:
  // What other tests left on this thread.
  AskedRangeTest() { TakeAskedRange({}); }

  // As RocksDB does: the key, the bound, and the question for the key's prefix.
  static std::optional<AskedRange> Ask(std::string_view key, std::string_view bound) {
    LeaveTransformed(key);
    LeaveTransformed(bound);
    return TakeAskedRange(PrefixOf(key));
  }
  static std::string_view PrefixOf(std::string_view key) { return key.substr(0, 0); }

  const std::string begin_ = "begin";
  const std::string end_ = "end";
  const std::string other_ = "other";
};

TEST_F(AskedRangeTest, IsOfKeyAndBound) {
  const auto asked = Ask(begin_, end_);
  ASSERT_TRUE(asked.has_value());
  EXPECT_EQ(asked->begin, "begin");
  EXPECT_EQ(asked->end, "end");
}

TEST_F(AskedRangeTest, IsTakenOnce) {
  ASSERT_TRUE(Ask(begin_, end_).has_value());
  EXPECT_FALSE(TakeAskedRange(PrefixOf(begin_)).has_value());
  EXPECT_TRUE(Ask(begin_, end_).has_value());
}

TEST_F(AskedRangeTest, IsUsedUpByAnotherQuestion) {
  LeaveTransformed(begin_);
  LeaveTransformed(end_);
  EXPECT_FALSE(TakeAskedRange(PrefixOf(other_)).has_value());
  EXPECT_FALSE(TakeAskedRange(PrefixOf(begin_)).has_value());
}

TEST_F(AskedRangeTest, NeedsABound) {
  LeaveTransformed(begin_);
  EXPECT_FALSE(TakeAskedRange(PrefixOf(begin_)).has_value());
  // Not that of a seek before which asked nothing.
  LeaveTransformed(other_);
  LeaveTransformed(end_);
  LeaveTransformed(begin_);
  EXPECT_FALSE(TakeAskedRange(PrefixOf(begin_)).has_value());
}

TEST_F(AskedRangeTest, NeedsTheKeyRightBeforeTheBound) {
  LeaveTransformed(begin_);
  LeaveTransformed(other_);
  LeaveTransformed(end_);
  EXPECT_FALSE(TakeAskedRange(PrefixOf(begin_)).has_value());
  LeaveTransformed(begin_);
  LeaveTransformed(end_);
  LeaveTransformed(begin_);  // the key once more, as memtables do
  EXPECT_FALSE(TakeAskedRange(PrefixOf(begin_)).has_value());
}

// Equal bytes elsewhere may be of another question.
TEST_F(AskedRangeTest, GoesByAddresses) {
  const std::string copy = begin_;
  LeaveTransformed(copy);
  LeaveTransformed(end_);
  EXPECT_FALSE(TakeAskedRange(PrefixOf(begin_)).has_value());
}

TEST_F(AskedRangeTest, MayBeginAtTheEmptyKey) {
  const std::string empty;
  const auto asked = Ask(empty, end_);
  ASSERT_TRUE(asked.has_value());
  EXPECT_EQ(asked->begin, "");
  EXPECT_FALSE(Ask({}, end_).has_value()) << "no address";
}

TEST_F(AskedRangeTest, StaysOnItsThread) {
  LeaveTransformed(begin_);
  LeaveTransformed(end_);
  std::thread([&] { EXPECT_FALSE(TakeAskedRange(PrefixOf(begin_)).has_value()); }).join();
  EXPECT_TRUE(TakeAskedRange(PrefixOf(begin_)).has_value());
}

}  // namespace
}  // namespace blocksieve::rocksdb_plugin
