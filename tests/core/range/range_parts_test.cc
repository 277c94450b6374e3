#include "lib/range/candidate_keys.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "blocksieve/filter.h"
#include "lib/range/order_preserving_code.h"
#include "lib/range/range_filter.h"
#include "tests/core/range/range_test_keys.h"
#include "tests/support/param_names.h"

namespace blocksieve::internal {
namespace {

using blocksieve::testing::Random;

SortedKeys Sorted(const std::set<std::string>& keys) {
  SortedKeys sorted;
  for (const std::string& key : keys) sorted.Append(key);
  return sorted;
}

// All strings of two letters and four bytes of few values each.
std::set<std::string> AllOfAForm() {
  std::set<std::string> all;
  for (char a = 'k'; a <= 'm'; ++a) {
    for (char b = '0'; b <= '9'; ++b) {
      for (const char c : {'\0', '\1'}) {
        for (const char d : {'\x7f', '\x80', '\x81'}) all.insert(std::string("id") + a + b + c + d);
      }
    }
  }
  return all;
}

std::vector<std::string> InRange(const std::set<std::string>& all, const std::string& begin,
                                 const std::string& end) {
  return {all.lower_bound(begin), all.lower_bound(std::max(begin, end))};
}

TEST(CandidateKeysTest, AreAllPossibleKeysOfTheRange) {
  const std::set<std::string> all = AllOfAForm();
  const KeyForm form = FormOf(Sorted(all));
  ASSERT_EQ(form.key_bytes, 6);
  Random random(1);
  const std::vector<std::string> keys(all.begin(), all.end());
  for (int i = 0; i < 100'000; ++i) {
    std::string ends[2];
    for (std::string& end : ends) {
      end = keys[random() % keys.size()];
      for (uint64_t changes = random() % 3; changes != 0; --changes) {
        end[2 + random() % 4] = static_cast<char>(random());
      }
      if (random() % 4 == 0) end.resize(2 + random() % 4);
      if (random() % 4 == 0) end.push_back(static_cast<char>(random() % 3));
    }
    const auto& [begin, end] = std::minmax(ends[0], ends[1]);
    CandidateKeys candidates(form, begin, end);
    ASSERT_TRUE(candidates.ok());
    std::vector<std::string> found;
    while (candidates.Next()) found.emplace_back(candidates.key());
    ASSERT_EQ(found, InRange(all, begin, end))
        << ::testing::PrintToString(begin) << " " << ::testing::PrintToString(end);
  }
}

TEST(CandidateKeysTest, NeedKeysOfOneLength) {
  EXPECT_EQ(FormOf(Sorted({"abcde", "abcdef"})).key_bytes, 0);
  EXPECT_EQ(FormOf(Sorted({"abc", "abd"})).key_bytes, 0);  // shorter than the tail
  const KeyForm form = FormOf(Sorted({"abcde", "abcdf"}));
  EXPECT_FALSE(CandidateKeys(KeyForm(), "a", "b").ok());
  EXPECT_FALSE(CandidateKeys(form, "abcde", "bbcde").ok());  // other first bytes
  EXPECT_FALSE(CandidateKeys(form, "", "b").ok());
}

// Ranges right after one of many consecutive keys.
TEST(CandidateKeysTest, LetThePointFilterAnswerForNarrowRanges) {
  constexpr int kKeys = 50'000;
  const auto key_of = [](int number) {
    char text[32];
    std::snprintf(text, sizeof(text), "order%010d", number);
    return std::string(text);
  };
  const auto number_of = [](int i) { return 20 * i + 7 * i % 10; };
  std::vector<std::string> keys;
  for (int i = 0; i < kKeys; ++i) keys.push_back(key_of(number_of(i)));
  const Result<Filter> points = Filter::Build(keys, {.ranges = true});
  ASSERT_TRUE(points.ok());
  const RangeFilterReader reader = RangeFilterReader::Open(points->bytes());
  const auto may_match = [&](std::string_view key) { return points->MayContain(key); };
  constexpr auto kNo = RangeFilterReader::Answer::kNo;
  int alone = 0;
  int together = 0;
  for (int i = 0; i < kKeys; ++i) {
    const std::string& key = keys[static_cast<size_t>(i)];
    const std::string end = key_of(number_of(i) + 6);  // five possible keys
    alone += reader.Query(key + '\0', end) != kNo;
    together += reader.Query(key + '\0', end, may_match) != kNo;
    ASSERT_NE(reader.Query(key, end, may_match), kNo);
  }
  EXPECT_EQ(alone, kKeys);
  EXPECT_NEAR(together, kKeys * 0.049, kKeys * 0.01);
}

using blocksieve::testing::Formatted;
using blocksieve::testing::KeyFamilies;
using blocksieve::testing::KeyFamily;
using blocksieve::testing::NearKey;

/// A code and the bytes of its model.
class LearntCode {
 public:
  explicit LearntCode(const std::vector<std::string>& keys) {
    SortedKeys sorted;
    for (const std::string& key : keys) sorted.Append(key);
    const CodeSizes sizes = AppendKeyCode(sorted, &bytes_);
    Decoder from(AsBytes(bytes_));
    code_ = OrderPreservingCode(sizes, &from);
    EXPECT_TRUE(from.ok());
    EXPECT_TRUE(from.rest().empty());
  }

  const OrderPreservingCode* operator->() const { return &code_; }

 private:
  std::string bytes_;
  OrderPreservingCode code_;
};

void ExpectOrder(const LearntCode& code, std::vector<std::string> strings, size_t depth) {
  std::sort(strings.begin(), strings.end());
  uint64_t before = 0;
  for (size_t i = 0; i < strings.size(); ++i) {
    const uint64_t here = code->Code(strings[i], depth);
    ASSERT_LT(here, OrderPreservingCode::kEnd);
    ASSERT_LE(before, here) << ::testing::PrintToString(strings[i - 1]) << " and "
                            << ::testing::PrintToString(strings[i]) << ", depth " << depth;
    before = here;
  }
}

class CodeOrderTest : public ::testing::TestWithParam<KeyFamily> {};

INSTANTIATE_TEST_SUITE_P(Families, CodeOrderTest, ::testing::ValuesIn(KeyFamilies()),
                         blocksieve::testing::ParamNames());

// Codes have the order of keys, also after equal first bytes.
TEST_P(CodeOrderTest, IsThatOfKeys) {
  const std::vector<std::string> keys = GetParam().Keys();
  const LearntCode code(keys);
  Random random(2);
  for (int round = 0; round < 300; ++round) {
    const std::string& key = keys[random() % keys.size()];
    const size_t depth = round % 4 == 0 ? 0 : random() % (key.size() + 1);
    const std::string prefix = key.substr(0, depth);
    std::vector<std::string> strings = {prefix,
                                        prefix + '\0',
                                        prefix + '\xff',
                                        key,
                                        prefix + std::string(400, '\0'),
                                        prefix + std::string(400, '\xff')};
    for (int i = 0; i < 60; ++i) {
      // Bytes of another key, so that the model has symbols for them.
      const std::string& other = keys[random() % keys.size()];
      std::string rest =
          random() % 2 == 0 ? key.substr(depth) : other.substr(std::min(depth, other.size()));
      for (uint64_t changes = random() % 3; changes > 0; --changes) rest = NearKey(rest, &random);
      strings.push_back(prefix + rest);
    }
    ASSERT_NO_FATAL_FAILURE(ExpectOrder(code, std::move(strings), depth));
  }
}

}  // namespace
}  // namespace blocksieve::internal
