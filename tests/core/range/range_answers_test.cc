#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "blocksieve/filter.h"
#include "tests/core/range/range_test_keys.h"
#include "tests/support/environment.h"
#include "tests/support/must.h"
#include "tests/support/param_names.h"

// A range filter never answers "no" to a range that holds a key, whatever the keys are.

namespace blocksieve::testing {
namespace {

constexpr double kFprs[] = {0.015, 0.3, 0.1, 0.001, 1e-5};

class RangeAnswersTest : public ::testing::TestWithParam<KeyFamily> {};

INSTANTIATE_TEST_SUITE_P(Families, RangeAnswersTest, ::testing::ValuesIn(KeyFamilies()),
                         ParamNames());

TEST_P(RangeAnswersTest, AreRight) {
  const std::vector<std::string> keys = GetParam().Keys();
  const int rounds = LongTests() ? 200'000 : 500;
  bool is_whole_file = false;
  for (const double fpr : kFprs) {
    is_whole_file = !is_whole_file;
    SCOPED_TRACE(std::to_string(fpr) + (is_whole_file ? ", whole file" : ", partition"));
    const std::string block = RangeBlock(keys, AnyEstimate(is_whole_file, fpr));
    EXPECT_GT(ExpectRightAnswers(keys, block, is_whole_file, rounds, 1), 0u)
        << "a filter that never says no hides every bug";
    if (HasFailure()) return;
  }
}

// Every range between strings of up to four bytes of three values, for many sets of such keys.
TEST(RangeFilterExhaustiveTest, SmallSetsAndRanges) {
  std::vector<std::string> all = {""};
  for (size_t i = 0; all[i].size() < 4; ++i) {
    for (const char byte : {'\0', 'm', '\xff'}) all.push_back(all[i] + byte);
  }
  all = SortedDistinct(std::move(all));
  Random random(1);
  for (int round = 0; round < 60 && !HasFailure(); ++round) {
    std::vector<std::string> keys;
    for (const std::string& key : all) {
      if (random() % (2 + static_cast<unsigned>(round) % 20) == 0) keys.push_back(key);
    }
    if (keys.empty()) continue;
    const bool is_whole_file = round % 2 == 0;
    const std::string block = RangeBlock(keys, AnyEstimate(is_whole_file, kFprs[round % 5]));
    const RangeChecker checker(keys, AsBytes(block), is_whole_file);
    for (size_t i = 0; i < all.size(); ++i) {
      for (size_t j = i + 1; j < all.size(); ++j) checker.Query(all[i], all[j]);
    }
  }
}

// 'g' never occurs. After "a" there is only one symbol, 'h', which 'g' must not be mistaken for.
TEST(RangeFilterExhaustiveTest, BytesThatNeverOccurNextToTheOnlySymbol) {
  std::vector<std::string> keys = {"ah0", "ah3", "ah5", "ah9"};
  for (const std::string first : {"c", "e"}) {
    for (uint64_t i = 0; i < 1'000; ++i) keys.push_back(first + Formatted("d%03llu", i));
  }
  const std::string block = RangeBlock(keys, AnyEstimate());
  const RangeFilterReader reader = RangeFilterReader::Open(AsBytes(block));
  EXPECT_EQ(reader.Query("agz", "ah1"), RangeAnswer::kMayMatch);
}

// Random sets of words over few byte values test what depends on models: symbols, edges, positions.
TEST(RangeFilterExhaustiveTest, RandomModels) {
  Random random(1);
  const int rounds = LongTests() ? 50'000 : 600;
  for (int round = 0; round < rounds && !HasFailure(); ++round) {
    SCOPED_TRACE(round);
    // Each position has its own byte values, some of them rare.
    std::vector<std::string> bytes(1 + random() % 6);
    for (std::string& of_position : bytes) {
      const size_t num_bytes = 1 + random() % 5;
      const auto lowest = static_cast<uint8_t>(random());
      while (of_position.size() < num_bytes) {
        of_position.push_back(static_cast<char>(lowest + random() % 12));
      }
    }
    std::vector<std::string> keys;
    for (uint64_t count = 1 + (random() % 3'000 >> random() % 12); count > 0; --count) {
      std::string key;
      for (const std::string& of_position : bytes) {
        if (round % 2 == 0 && random() % 16 == 0) break;  // else all have one length
        const uint64_t rank = random() % of_position.size();
        key.push_back(of_position[random() % 64 == 0 ? rank : rank / 2]);
      }
      keys.push_back(key);
    }
    keys = SortedDistinct(std::move(keys));
    const std::string block = RangeBlock(keys, AnyEstimate(true, kFprs[round % 5]));
    ExpectRightAnswers(keys, block, true, 150, random());
    // Beside a key filter, which answers for each of few possible keys.
    const Filter filter = Must(Filter::Build(keys, {.ranges = true, .max_estimated_range_fpr = 1}));
    for (int i = 0; i < 150; ++i) {
      const std::string begin = NearKey(keys[random() % keys.size()], &random);
      const std::string end = NearKey(i % 2 == 0 ? begin : keys[random() % keys.size()], &random);
      ASSERT_TRUE(filter.MayContainRange(begin, end) || !HasKeyIn(keys, begin, end))
          << ::testing::PrintToString(begin) << " " << ::testing::PrintToString(end);
    }
  }
}

}  // namespace
}  // namespace blocksieve::testing
