#include "integration/rocksdb/ranges/range_extractor.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

// Which question a range belongs to: the last two keys on the thread, and of the first of them is
// the prefix that is asked for.

namespace blocksieve::rocksdb_plugin {
namespace {

// Keys by their addresses, which is what counts.
const std::string kBegin = "begin";
const std::string kCopyOfBegin = kBegin;
const std::string kEnd = "end";
const std::string kOther = "other";
const std::string kEmpty;

using Keys = std::vector<std::string_view>;

std::optional<AskedRange> Take(std::string_view key) { return TakeAskedRange(key.substr(0, 0)); }

std::optional<AskedRange> Ask(const Keys& transformed, std::string_view key) {
  Take({});  // what other tests left on this thread
  for (const std::string_view each : transformed) LeaveTransformed(each);
  return Take(key);
}

TEST(AskedRangeTest, IsOfTheKeyRightBeforeTheBound) {
  for (const std::string* begin : {&kBegin, &kEmpty}) {
    const auto asked = Ask({kOther, *begin, kEnd}, *begin);
    ASSERT_TRUE(asked.has_value()) << *begin;
    EXPECT_EQ(asked->begin, *begin);
    EXPECT_EQ(asked->end, "end");
  }
}

TEST(AskedRangeTest, IsNoneOtherwise) {
  const struct {
    const char* why;
    Keys transformed;
    std::string_view asked;
  } cases[] = {
      {"no bound", {kBegin}, kBegin},
      {"the bound of a seek before, which asked nothing", {kOther, kEnd, kBegin}, kBegin},
      {"another key before the bound", {kBegin, kOther, kEnd}, kBegin},
      {"the key once more, as memtables do", {kBegin, kEnd, kBegin}, kBegin},
      {"another key is asked for", {kBegin, kEnd}, kOther},
      {"equal bytes elsewhere may be of another question", {kCopyOfBegin, kEnd}, kBegin},
      {"no address", {std::string_view(), kEnd}, std::string_view()},
  };
  for (const auto& [why, transformed, asked] : cases) {
    EXPECT_FALSE(Ask(transformed, asked).has_value()) << why;
    EXPECT_FALSE(Take(kBegin).has_value()) << why << ": it is used up";
  }
}

TEST(AskedRangeTest, IsTakenOnce) {
  ASSERT_TRUE(Ask({kBegin, kEnd}, kBegin).has_value());
  EXPECT_FALSE(Take(kBegin).has_value());
}

TEST(AskedRangeTest, StaysOnItsThread) {
  Ask({}, {});
  LeaveTransformed(kBegin);
  LeaveTransformed(kEnd);
  std::thread([&] { EXPECT_FALSE(Take(kBegin).has_value()); }).join();
  EXPECT_TRUE(Take(kBegin).has_value());
}

}  // namespace
}  // namespace blocksieve::rocksdb_plugin
