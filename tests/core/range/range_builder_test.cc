// SPDX-License-Identifier: Apache-2.0
#include "lib/base/kernels.h"
#include "lib/block/footer.h"
#include "tests/core/filter/test_filters.h"
#include "tests/core/range/range_test_keys.h"
#include "tests/support/environment.h"
#include "tests/support/param_names.h"

namespace blocksieve::testing {
namespace {

/// The range filter of these keys, added in this order.
class Built {
 public:
  Built(RangeFilterBuilder* builder, const std::vector<std::string>& keys) {
    for (const std::string& key : keys) builder->AddKey(key);
    block_ = SectionBlock(builder->Finish());
    absent_reason_ = builder->absent_reason();
  }

  const std::string& block() const { return block_; }
  const std::string& absent_reason() const { return absent_reason_; }

  void ExpectAbsent(const std::string& reason) const {
    EXPECT_EQ(absent_reason_, reason);
    const RangeFilterReader reader = RangeFilterReader::Open(AsBytes(block_));
    EXPECT_FALSE(reader.is_ready());
    EXPECT_EQ(reader.Query("a", "b"), RangeFilterReader::Answer::kMayMatch);
    EXPECT_TRUE(Filter::Verify(AsBytes(block_)).ok());
  }

  void ExpectPresent(uint64_t num_keys) const {
    EXPECT_EQ(absent_reason_, "");
    EXPECT_TRUE(RangeFilterReader::Open(AsBytes(block_)).is_ready());
    const RangeFilterInfo info = DescribeRangeBlock(block_);
    EXPECT_EQ(info.num_keys, num_keys);
    EXPECT_TRUE(Filter::Verify(AsBytes(block_)).ok());
  }

 private:
  std::string block_;
  std::string absent_reason_;
};

Built Build(const FilterOptions& options, const std::vector<std::string>& keys) {
  RangeFilterBuilder builder = Must(RangeFilterBuilder::Create(options));
  return Built(&builder, keys);
}

std::vector<std::string> Paths() {
  for (const KeyFamily& family : KeyFamilies()) {
    if (family.name == "Paths") return family.Keys();
  }
  return {};
}

TEST(RangeFilterBuilderTest, DescribesTheFilter) {
  const std::vector<std::string> keys = RandomInts(1'000, 1);
  for (const bool is_whole_file : {true, false}) {
    const Built built = Build({.is_partition = !is_whole_file}, keys);
    built.ExpectPresent(keys.size());
    const RangeFilterInfo info = DescribeRangeBlock(built.block());
    EXPECT_EQ(info.is_whole_file, is_whole_file);
    EXPECT_EQ(info.cells_per_key, 91u);  // of 1.1 %
    EXPECT_EQ(info.model_bytes, 0u);     // random bytes need none
    EXPECT_LT(info.estimated_fpr, 0.03);
  }
}

TEST(RangeFilterBuilderTest, RefusesKeysThatAreTooSimilar) {
  const std::vector<std::string> paths = Paths();
  // The keys are as dense as can be: every range is next to a key.
  const Built built = Build({.max_estimated_range_fpr = 0.01}, paths);
  const std::string& reason = built.absent_reason();
  EXPECT_TRUE(reason.starts_with("keys are too similar: estimated FPR of short ranges is 0."))
      << reason;
  EXPECT_TRUE(reason.ends_with("; allowed: up to 0.01")) << reason;
  built.ExpectAbsent(reason);
  Build({.max_estimated_range_fpr = 1}, paths).ExpectPresent(paths.size());
}

// The builder tries some stretches of many keys first: how many keys are similar matters, but not
// where they are.
TEST(RangeFilterBuilderTest, CountsSimilarKeysAnywhere) {
  const std::vector<std::string> paths = Paths();
  for (const char* const where : {"\x01", "\x80", "\xf0"}) {
    for (const size_t percent : {10, 90}) {
      std::vector<std::string> keys = RandomInts(1'000 * (100 - percent), 1);
      for (size_t i = 0; i < 1'000 * percent; ++i) {
        keys.push_back(where + std::to_string(i / paths.size()) + paths[i % paths.size()]);
      }
      std::sort(keys.begin(), keys.end());
      const Built built = Build({}, keys);
      EXPECT_EQ(built.absent_reason().empty(), percent == 10) << built.absent_reason();
    }
  }
}

TEST(RangeFilterBuilderTest, RefusesKeysOutOfOrder) {
  const std::string reason = "keys are not in bytewise order";
  Build({}, {"b", "a"}).ExpectAbsent(reason);
  Build({}, {"a", "c", "b", "d"}).ExpectAbsent(reason);
  Build({}, {"b", "a", "a", "c", "d"}).ExpectAbsent(reason);
  Build({}, {"a", ""}).ExpectAbsent(reason);
  Build({}, {"\x80", "\x7f"}).ExpectAbsent(reason);
  Build(AnyEstimate(), {"", "\x7f", "\x80", "\x80\x01"}).ExpectPresent(4);
}

TEST(RangeFilterBuilderTest, IgnoresEqualKeys) {
  const std::vector<std::string> once = RandomInts(500, 1);
  std::vector<std::string> repeated;
  for (size_t i = 0; i < once.size(); ++i) repeated.insert(repeated.end(), 1 + i % 3, once[i]);
  EXPECT_TRUE(Build({}, once).block() == Build({}, repeated).block());
  Build({}, {"a", "a", "a"}).ExpectPresent(1);
  Build({}, {"", ""}).ExpectPresent(1);
}

TEST(RangeFilterBuilderTest, RespectsMaxBuildBytes) {
  const std::vector<std::string> keys = RandomInts(1'000, 1);
  Build({.max_build_bytes = 1'000}, keys)
      .ExpectAbsent("building takes more memory than max_build_bytes = 1000");
  Build({.max_build_bytes = 1'000'000}, keys).ExpectPresent(keys.size());
  // Equal keys take no memory, and neither do keys after the limit was exceeded.
  Build({.max_build_bytes = 100}, std::vector<std::string>(1'000, "a")).ExpectPresent(1);
}

TEST(RangeFilterBuilderTest, MayBeUsedAgain) {
  const std::vector<std::string> keys = RandomInts(1'000, 1);
  const FilterOptions options{.max_estimated_range_fpr = 0.1, .max_build_bytes = 100'000};
  const std::string expected = Build(options, keys).block();
  RangeFilterBuilder builder = Must(RangeFilterBuilder::Create(options));
  const auto expect_same = [&] {
    Built again(&builder, keys);
    EXPECT_TRUE(again.block() == expected);
    again.ExpectPresent(keys.size());
  };
  expect_same();
  expect_same();
  Built(&builder, {"b", "a"}).ExpectAbsent("keys are not in bytewise order");
  expect_same();
  Built(&builder, {}).ExpectAbsent("no keys");
  Built(&builder, RandomInts(10'000, 2))
      .ExpectAbsent("building takes more memory than max_build_bytes = 100000");
  expect_same();
  // Every cell has two keys, too few for a cluster.
  std::vector<std::string> similar;
  for (const std::string& key : RandomInts(300, 3)) {
    for (const char* end : {"a", "b"}) similar.push_back(key + end);
  }
  EXPECT_TRUE(Built(&builder, similar).absent_reason().starts_with("keys are too similar"));
  expect_same();
  RangeFilterBuilder moved = std::move(builder);
  builder = std::move(moved);
  expect_same();
}

// Keys that are prefixes of each other make clusters within clusters, as deep as they are long.
TEST(RangeFilterBuilderTest, LimitsTheNestingOfClusters) {
  std::vector<std::string> keys;
  for (size_t length = 0; length < 9'000; ++length) keys.emplace_back(length, 'a');
  const Built built = Build(AnyEstimate(), keys);
  const RangeFilterReader reader = RangeFilterReader::Open(AsBytes(built.block()));
  for (const std::string& key : keys) {
    ASSERT_EQ(reader.Query(key, key + '\0'), blocksieve::RangeAnswer::kMayMatch);
  }
  EXPECT_EQ(reader.Query("b", "c"), blocksieve::RangeAnswer::kNo);
  EXPECT_EQ(reader.Query("aab", "aac"), blocksieve::RangeAnswer::kNo);
}

using RangeAnswer = RangeFilterReader::Answer;

TEST(RangeBlockTest, NeedsNoKeyFilter) {
  const std::string block = RangeBlock({"b", "d"}, AnyEstimate());
  const Filter filter = Filter::Open(AsBytes(block));
  EXPECT_EQ(filter.state(), Filter::State::kReady);
  EXPECT_TRUE(filter.MayContain("c"));
  EXPECT_FALSE(filter.MayContainRange("x", "y"));
  EXPECT_TRUE(Filter::Verify(AsBytes(block)).ok());
  const FilterDescription info = Must(DescribeFilter(AsBytes(block)));
  EXPECT_EQ(info.kind, FilterKind::kNone);
  EXPECT_EQ(info.predicted_fpr, 1);
  EXPECT_EQ(info.num_range_keys, 2u);
}

TEST(RangeBlockTest, InvertedAndEmptyRangesMayMatch) {
  const std::string block = RangeBlock({"b", "d"}, AnyEstimate());
  const RangeFilterReader reader = RangeFilterReader::Open(AsBytes(block));
  EXPECT_EQ(reader.Query("x", "y"), RangeAnswer::kNo);
  EXPECT_EQ(RangeFilterReader().Query("x", "y"), RangeAnswer::kMayMatch);
  EXPECT_EQ(RangeFilterReader::Open({}).Query("x", "y"), RangeAnswer::kMayMatch);
  for (const auto& [begin, end] : std::vector<std::pair<std::string_view, std::string_view>>{
           {"y", "x"}, {"x", "x"}, {"", ""}, {"x", ""}, {{}, {}}}) {
    EXPECT_EQ(reader.Query(begin, end), RangeAnswer::kMayMatch);
  }
}

// A range filter never answers "no" to a range that holds a key, whatever the keys are.

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
