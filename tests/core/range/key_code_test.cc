#include "lib/range/key_code.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/core/range/range_test_keys.h"
#include "tests/support/param_names.h"

namespace blocksieve::internal {
namespace {

using blocksieve::testing::Formatted;
using blocksieve::testing::KeyFamilies;
using blocksieve::testing::KeyFamily;
using blocksieve::testing::NearKey;
using blocksieve::testing::Random;

/// A code and the bytes that it refers to.
class LearntCode {
 public:
  explicit LearntCode(const std::vector<std::string>& keys) {
    SortedKeys sorted;
    for (const std::string& key : keys) sorted.Append(key);
    sizes_ = AppendKeyCode(sorted, &bytes_);
    Decoder from(AsBytes(bytes_));
    code_ = KeyCode(sizes_, &from);
    EXPECT_TRUE(from.ok());
    EXPECT_TRUE(from.rest().empty());
  }

  const KeyCode* operator->() const { return &code_; }
  bool HasSymbols() const { return sizes_.symbols != 0; }

 private:
  KeyCodeSizes sizes_;
  std::string bytes_;
  KeyCode code_;
};

void ExpectOrder(const LearntCode& code, std::vector<std::string> strings, size_t depth) {
  std::sort(strings.begin(), strings.end());
  uint64_t before = 0;
  for (size_t i = 0; i < strings.size(); ++i) {
    const uint64_t here = code->Code(strings[i], depth);
    ASSERT_LT(here, KeyCode::kEnd);
    ASSERT_LE(before, here) << ::testing::PrintToString(strings[i - 1]) << " and "
                            << ::testing::PrintToString(strings[i]) << ", depth " << depth;
    before = here;
  }
}

class KeyCodeOrder : public ::testing::TestWithParam<KeyFamily> {};

INSTANTIATE_TEST_SUITE_P(Families, KeyCodeOrder, ::testing::ValuesIn(KeyFamilies()),
                         blocksieve::testing::ParamNames());

TEST_P(KeyCodeOrder, IsThatOfKeys) {
  const std::vector<std::string> keys = GetParam().Keys();
  const LearntCode code(keys);
  Random random(1);
  std::vector<std::string> strings = {"", std::string(1, '\0'), "\xff", std::string(400, '\xff'),
                                      std::string(400, '\0')};
  for (int i = 0; i < 10'000; ++i) {
    std::string near = keys[random() % keys.size()];
    for (uint64_t changes = random() % 4; changes > 0; --changes) near = NearKey(near, &random);
    strings.push_back(std::move(near));
  }
  ExpectOrder(code, std::move(strings), 0);
}

TEST_P(KeyCodeOrder, IsThatOfWhatFollowsEqualBytes) {
  const std::vector<std::string> keys = GetParam().Keys();
  const LearntCode code(keys);
  Random random(2);
  for (int round = 0; round < 300; ++round) {
    const std::string& key = keys[random() % keys.size()];
    const size_t depth = random() % (key.size() + 1);
    const std::string prefix = key.substr(0, depth);
    std::vector<std::string> strings = {prefix, prefix + '\0', prefix + '\xff', key};
    for (int i = 0; i < 60; ++i) {
      // Of what follows in another key, so that models know it.
      const std::string& other = keys[random() % keys.size()];
      std::string rest =
          random() % 2 == 0 ? key.substr(depth) : other.substr(std::min(depth, other.size()));
      for (uint64_t changes = random() % 3; changes > 0; --changes) rest = NearKey(rest, &random);
      strings.push_back(prefix + rest);
    }
    ASSERT_NO_FATAL_FAILURE(ExpectOrder(code, std::move(strings), depth));
  }
}

TEST(KeyCode, HasSymbolsWhereSomeBytesNeverOccur) {
  for (const KeyFamily& family : KeyFamilies()) {
    const bool has_symbols = LearntCode(family.Keys()).HasSymbols();
    if (family.name == "Ints" || family.name == "Counter" || family.name == "OneKey") {
      EXPECT_FALSE(has_symbols) << family.name;
    }
    if (family.name == "Uuids" || family.name == "WordsOfExtremeBytes") {
      EXPECT_TRUE(has_symbols) << family.name;
    }
  }
}

// Numbers of a window that does not begin and end at round ones are spread as evenly as others.
TEST(KeyCode, SpreadsAWindowOfNumbersEvenly) {
  Random random(3);
  std::vector<std::string> keys;
  for (int i = 0; i < 20'000; ++i) {
    keys.push_back(Formatted("%013llu", 1'690'000'000'000 + random() % 25'000'000'000));
  }
  keys = blocksieve::testing::SortedDistinct(std::move(keys));
  const LearntCode code(keys);
  const uint64_t low = code->Code(keys.front(), 0);
  const uint64_t high = code->Code(keys.back(), 0);
  constexpr size_t kParts = 16;
  std::vector<size_t> counts(kParts);
  for (const std::string& key : keys) {
    ++counts[static_cast<size_t>((code->Code(key, 0) - low) / ((high - low) / kParts + 1))];
  }
  for (const size_t count : counts) {
    EXPECT_GT(count, keys.size() / kParts / 3);
    EXPECT_LT(count, keys.size() / kParts * 3);
  }
}

TEST(KeyCode, DamagedModelsReadNothingBeyondTheirBytes) {
  Random random(4);
  for (const KeyFamily& family : KeyFamilies()) {
    const std::vector<std::string> keys = family.Keys();
    SortedKeys sorted;
    for (const std::string& key : keys) sorted.Append(key);
    std::string model;
    const KeyCodeSizes sizes = AppendKeyCode(sorted, &model);
    for (int round = 0; round < 300; ++round) {
      std::vector<uint8_t> damaged(model.begin(), model.end());
      if (round % 3 == 0) damaged.resize(random() % (damaged.size() + 1));
      for (int i = 0; i < 3 && !damaged.empty(); ++i) {
        damaged[random() % damaged.size()] = static_cast<uint8_t>(random());
      }
      const std::vector<uint8_t> exact(damaged);
      Decoder from(exact);
      KeyCodeSizes any = sizes;
      if (round % 5 == 0) any = {static_cast<uint8_t>(random()), any.prefix_bytes, any.positions};
      const KeyCode code(any, &from);
      if (!from.ok()) continue;
      for (int i = 0; i < 20; ++i) {
        const std::string near = NearKey(keys[random() % keys.size()], &random);
        static_cast<void>(code.Code(near, random() % (near.size() + 1)));
      }
    }
  }
}

}  // namespace
}  // namespace blocksieve::internal
